import { Effect, Either, type Fiber, FiberId } from "effect"
import type { ByteStream } from "../ByteStream.js"
import { InvokeMetadata } from "./InvokeMetadata.js"
import * as Packet from "./Packet.js"
import type { Router } from "./Router.js"
import { type RunCall, ServedCall } from "./ServedCall.js"
import type { Waiting } from "./Waiting.js"

const tooMuchWaits = "too many bytes wait"

const noEntries: ReadonlyMap<string, string> = new Map()

/** Packets that are handled before other work of the process has its turn. */
const withoutPause = 256

/** What serves the calls of streams. */
export interface Serving<R> {
  readonly router: Router<R>
  readonly run: RunCall<R>
  readonly waiting: Waiting
}

/**
 * Serves calls on one byte stream, one after the other, until the client ends the stream, breaks the protocol or disappears; the call that runs then
 * is interrupted. After a breach the stream is reset, otherwise its owner closes it. Only a running call takes a fiber.
 */
export class ServedStream<R> {
  private readonly decoder = new Packet.Decoder()
  private packets: ReadonlyArray<Packet.Packet | Packet.Violation> = []
  /** How many of the packets have been handled. */
  private handled = 0
  private current: ServedCall<R> | undefined = undefined
  private metadata: { readonly streamId: number; readonly entries: ReadonlyMap<string, string> } | undefined = undefined
  private isPumping = false
  /** Whether the next packet waits for the call. */
  private isBlocked = false
  /** Whether the bytes of the packet that waits are counted. */
  private isCounted = false
  /** Looks whether the stream breaks while it is not read. */
  private watch: Fiber.RuntimeFiber<unknown, unknown> | undefined = undefined
  private isOver = false

  /** `over` is called once, when nothing of the stream runs any more. */
  constructor(
    private readonly stream: ByteStream,
    private readonly serving: Serving<R>,
    private readonly over: () => void
  ) {}

  /** Handles the packets that have arrived, until the stream has no more or the call is busy. */
  readonly pump = (): void => {
    // A handler may call it again: more bytes may arrive while a packet is handled
    if (this.isPumping) return
    this.isPumping = true
    try {
      for (let count = 0; !this.isOver && !this.isBlocked; count++) {
        if (count === withoutPause) return void setTimeout(this.pump, 0)
        if (!this.handleNext() && !this.read()) return
      }
    } catch (defect) {
      // It would end the process: nothing else awaits what the connection calls
      this.serving.run(Effect.logError("a stream of calls failed", defect))
      this.breakOff("internal error")
    } finally {
      this.isPumping = false
    }
  }

  /** Reads bytes. Returns whether there were any. */
  private read(): boolean {
    const chunk = this.stream.direct.take(this.pump)
    if (chunk === undefined) return false
    if (chunk instanceof Uint8Array) {
      const { held } = this.decoder
      // A plain array: the bytes of messages would remain Node's buffers
      this.packets = this.decoder.decode(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length))
      this.handled = 0
      if (!this.serving.waiting.hold(this.decoder.held - held)) this.breakOff(tooMuchWaits)
      return true
    }
    if (chunk !== null) this.log(`A stream ended: ${chunk.message}`)
    this.end()
    return false
  }

  /** Handles a packet, which remains the next one while the call is busy. Returns whether there was one. */
  private handleNext(): boolean {
    const packet = this.packets[this.handled]
    if (packet === undefined) return false
    const wrong = this.handle(packet)
    if (wrong !== undefined) this.breakOff(wrong)
    else if (!this.isBlocked) this.handled += 1
    return true
  }

  /** Answers what is wrong, if anything. */
  private handle(packet: Packet.Packet | Packet.Violation): string | undefined {
    if (packet.kind === "Violation") return packet.message
    const { data, kind, streamId } = packet
    const isNext = this.current !== undefined && streamId > this.current.streamId
    if (this.current !== undefined && (isNext || kind === Packet.Kind.Cancel || kind === Packet.Kind.Close || kind === Packet.Kind.Error)) {
      if (!this.current.isOver) {
        this.isBlocked = true
        this.current.interrupt(this.unblock)
        return undefined
      }
      if (this.current.isTorn) return "a call was canceled in the middle of its answer"
      if (isNext) this.current = undefined
    }
    switch (kind) {
      case Packet.Kind.Invoke:
        return this.invoke(streamId, new TextDecoder().decode(data))
      case Packet.Kind.InvokeMetadata: {
        const metadata = InvokeMetadata.decode(data)
        if (Either.isLeft(metadata)) return metadata.left.message
        this.metadata = { streamId, entries: metadata.right.entries }
        return undefined
      }
      case Packet.Kind.Message:
        return this.current === undefined ? undefined : this.deliver(this.current, data)
      case Packet.Kind.CloseSend:
        this.current?.endRequests()
        return undefined
      default:
        return undefined
    }
  }

  private invoke(streamId: number, rpc: string): string | undefined {
    if (this.current !== undefined) return "a call is invoked twice"
    const metadata = this.metadata?.streamId === streamId ? this.metadata.entries : noEntries
    const { router, run, waiting } = this.serving
    this.current = new ServedCall(streamId, { rpc, metadata }, this.stream, waiting)
    this.current.begin(router, run)
    return undefined
  }

  private deliver(call: ServedCall<R>, data: Uint8Array): string | undefined {
    if (!this.isCounted) {
      if (call.isOver) return undefined
      if (!this.serving.waiting.hold(data.length)) {
        this.serving.waiting.hold(-data.length)
        return tooMuchWaits
      }
    }
    this.isCounted = !call.deliver(data, this.unblock)
    if (!this.isCounted) return undefined
    this.isBlocked = true
    // Nothing is read until then, which would tell that the stream breaks
    this.watch ??= this.serving.run(Effect.catchAll(this.stream.whenBroken, () => Effect.sync(() => this.end())))
    return undefined
  }

  private readonly unblock = (): void => {
    if (!this.isBlocked) return
    this.isBlocked = false
    this.watch?.unsafeInterruptAsFork(FiberId.none)
    this.watch = undefined
    this.pump()
  }

  private breakOff(why: string): void {
    this.log(`A stream is broken off: ${why}`)
    // Before its owner closes it properly
    this.serving.run(this.stream.reset)
    this.end()
  }

  private log(message: string): void {
    this.serving.run(Effect.logDebug(message))
  }

  /** Interrupts the call, and reads no more. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    const { waiting } = this.serving
    waiting.hold(-this.decoder.held)
    const next = this.packets[this.handled]
    if (this.isCounted && next !== undefined && next.kind !== "Violation") waiting.hold(-next.data.length)
    this.watch?.unsafeInterruptAsFork(FiberId.none)
    if (this.current === undefined || this.current.isOver) this.over()
    else this.current.interrupt(this.over)
  }
}
