import { Cause, Effect, Either, Exit, Fiber, Mailbox, Option, Scope } from "effect"
import { concatenate } from "../ByteBuffer.js"
import type { ByteStream } from "../ByteStream.js"
import { maximumBacklog } from "../yamux/Multiplexer.js"
import type { Session } from "../yamux/Session.js"
import type { SessionEnded, StreamError } from "../yamux/YamuxError.js"
import { InvokeMetadata } from "./InvokeMetadata.js"
import * as Packet from "./Packet.js"
import type { Exchange, Router } from "./Router.js"
import * as RpcError from "./RpcError.js"

/** Requests of one call that wait for its handler; a client that sends more waits. */
const inboxCapacity = 16

export interface Options {
  /** Streams served at a time; further ones wait to be accepted. 256 by default. */
  readonly concurrency?: number
  /** Bytes of requests and unfinished packets that may wait, over all streams; the stream that exceeds it is reset. 64 MiB by default. */
  readonly maxWaitingBytes?: number
}

const defaults = { concurrency: maximumBacklog, maxWaitingBytes: 64 * 1024 * 1024 } as const

/** Characters of a method's name that are repeated in answers and logs. */
const maximumNameShown = 256

const tooMuchWaits = "too many bytes wait"

const noData = new Uint8Array(0)

/** Counts the bytes waiting on the streams that share it. */
class Waiting {
  private bytes = 0

  constructor(private readonly limit: number) {}

  /** Counts more (or, negative, fewer) bytes; false when there are too many. */
  hold(bytes: number): boolean {
    this.bytes += bytes
    return this.bytes <= this.limit
  }
}

/** A call being answered, or answered already. */
interface OpenCall {
  readonly streamId: number
  /** Hands a request to the handler, waiting while too many wait; false when too many bytes do. */
  readonly deliver: (data: Uint8Array) => Effect.Effect<boolean, StreamError>
  /** The client sends no more requests. */
  readonly endRequests: Effect.Effect<unknown>
  readonly fiber: Fiber.RuntimeFiber<void>
}

/** The answering side of a byte stream. */
interface Answers {
  readonly whenBroken: Effect.Effect<never, StreamError>
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, StreamError>
  /** Whether a write was interrupted: nothing may be written behind it. */
  readonly torn: () => boolean
}

const answersOn = (stream: ByteStream): Answers => {
  let torn = false
  return {
    whenBroken: stream.whenBroken,
    write: (bytes) =>
      Effect.suspend(() => {
        torn = true
        return Effect.tap(stream.write(bytes), () => {
          torn = false
        })
      }),
    torn: () => torn
  }
}

/** Starts answering a call; the handler runs in its own fiber, interrupted with the scope. */
const openCall = <R>(
  router: Router<R>,
  answers: Answers,
  waiting: Waiting,
  { streamId, rpc, metadata }: { readonly streamId: number; readonly rpc: string; readonly metadata: ReadonlyMap<string, string> }
): Effect.Effect<OpenCall, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const inbox = yield* Mailbox.make<Uint8Array>(inboxCapacity)
    let answered = false
    let held = 0
    let messageId = 0

    const packet = (kind: Packet.Kind, data: Uint8Array) => {
      messageId += 1
      return Packet.encode({ kind, streamId, messageId, data })
    }

    const hold = (bytes: number) => {
      held += bytes
      return waiting.hold(bytes)
    }

    const exchange: Exchange = {
      call: { rpc, metadata },
      receive: Effect.matchEffect(inbox.take, {
        onFailure: () => Effect.succeedNone,
        onSuccess: (data) => {
          hold(-data.length)
          return Effect.succeedSome(data)
        }
      }),
      send: (messages, end) =>
        Effect.suspend(() => {
          const packets = messages.map((data) => packet(Packet.Kind.Message, data))
          if (end !== undefined) packets.push(packet(Packet.Kind[end], noData))
          return answers.write(concatenate(packets))
        })
    }

    const fail = (error: RpcError.RpcError) => Effect.suspend(() => answers.write(packet(Packet.Kind.Error, RpcError.encode(error))))

    const shownRpc = rpc.slice(0, maximumNameShown)

    const unknown = new RpcError.RpcError({ code: RpcError.unimplementedCode, message: `unknown rpc: ${shownRpc}` })

    const answer = Effect.suspend(
      (): Effect.Effect<void, RpcError.RpcError | StreamError, R> => router.procedures.get(rpc)?.(exchange) ?? unknown
    )

    const fiber = yield* answer.pipe(
      Effect.catchTag("RpcError", fail),
      Effect.catchAllCause((cause) =>
        Option.isSome(Cause.failureOption(cause))
          ? Effect.logDebug(`${shownRpc} was cut off`, cause)
          : Effect.zipRight(
              Effect.logError(`${shownRpc} failed`, cause),
              Effect.ignore(fail(new RpcError.RpcError({ code: 0, message: "internal error" })))
            )
      ),
      Effect.interruptible,
      Effect.ensuring(
        Effect.suspend(() => {
          answered = true
          hold(-held)
          return inbox.shutdown
        })
      ),
      // A fiber interrupted before it began would not clean up.
      Effect.forkScoped,
      Effect.uninterruptible
    )

    return {
      streamId,
      deliver: (data) =>
        Effect.suspend(() => {
          if (answered) return Effect.succeed(true)
          if (!hold(data.length)) return Effect.succeed(false)
          if (inbox.unsafeOffer(data)) return Effect.succeed(true)
          return Effect.as(Effect.raceFirst(inbox.offer(data), answers.whenBroken), true)
        }),
      endRequests: inbox.end,
      fiber
    }
  })

/**
 * Serves calls on one byte stream, one after the other, until the client ends the stream, breaks the protocol or disappears; the call that runs then
 * is interrupted. After a breach the stream is reset, otherwise its owner closes it.
 */
export const serve = <R>(stream: ByteStream, router: Router<R>): Effect.Effect<void, never, R> =>
  serveSharing(stream, router, new Waiting(defaults.maxWaitingBytes))

const serveSharing = <R>(stream: ByteStream, router: Router<R>, waiting: Waiting): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const decoder = new Packet.Decoder()
    const answers = answersOn(stream)
    let current: OpenCall | undefined
    let metadata: { readonly streamId: number; readonly entries: ReadonlyMap<string, string> } | undefined

    /** Interrupts the call; answers what is wrong when the stream can carry no other. */
    const cancel = ({ fiber }: OpenCall) =>
      Effect.map(Fiber.interrupt(fiber), () => (answers.torn() ? "a call was canceled in the middle of its answer" : undefined))

    const invoke = (streamId: number, rpc: string) =>
      openCall(router, answers, waiting, { streamId, rpc, metadata: metadata?.streamId === streamId ? metadata.entries : new Map() })

    /** Answers what is wrong, if anything. */
    const onPacket = (packet: Packet.Packet | Packet.Violation): Effect.Effect<string | undefined, StreamError, R | Scope.Scope> =>
      Effect.gen(function* () {
        if (packet.kind === "Violation") return packet.message
        const { kind, streamId, data } = packet
        if (current !== undefined && streamId > current.streamId) {
          const wrong = yield* cancel(current)
          if (wrong !== undefined) return wrong
          current = undefined
        }
        if (kind === Packet.Kind.Invoke) {
          if (current !== undefined) return "a call is invoked twice"
          current = yield* invoke(streamId, new TextDecoder().decode(data))
          return undefined
        }
        if (kind === Packet.Kind.InvokeMetadata) {
          const entries = InvokeMetadata.decode(data)
          if (Either.isLeft(entries)) return entries.left.message
          metadata = { streamId, entries: entries.right.entries }
          return undefined
        }
        if (current === undefined) return undefined
        switch (kind) {
          case Packet.Kind.Message:
            return (yield* current.deliver(data)) ? undefined : tooMuchWaits
          case Packet.Kind.CloseSend:
            yield* current.endRequests
            return undefined
          case Packet.Kind.Cancel:
          case Packet.Kind.Close:
          case Packet.Kind.Error:
            return yield* cancel(current)
        }
      })

    const breakOff = (why: string) => Effect.zipRight(Effect.logDebug(`A stream is broken off: ${why}`), stream.reset)

    yield* Effect.addFinalizer(() => Effect.sync(() => waiting.hold(-decoder.held)))
    for (;;) {
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) return
      const held = decoder.held
      const packets = decoder.decode(chunk.value)
      if (!waiting.hold(decoder.held - held)) return yield* breakOff(tooMuchWaits)
      for (const packet of packets) {
        const wrong = yield* onPacket(packet)
        if (wrong !== undefined) return yield* breakOff(wrong)
      }
    }
  }).pipe(
    Effect.scoped,
    Effect.catchAll((error) => Effect.logDebug(`A stream ended: ${error.message}`))
  )

/**
 * Serves all streams the peer of a session opens, at the same time, until the session is over. Fails with why, unless it ended normally; calls that
 * run then are interrupted.
 */
export const serveSession = <R>(session: Session, router: Router<R>, options: Options = {}): Effect.Effect<void, SessionEnded, R> =>
  Effect.gen(function* () {
    const calls = yield* Effect.scope
    const waiting = new Waiting(options.maxWaitingBytes ?? defaults.maxWaitingBytes)
    const permits = yield* Effect.makeSemaphore(options.concurrency ?? defaults.concurrency)

    const serveNext = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* restore(permits.take(1))
        const scope = yield* Scope.make()
        const stream = yield* restore(Scope.extend(session.accept, scope)).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        yield* restore(serveSharing(stream, router, waiting)).pipe(
          Effect.onExit((exit) => Effect.zipRight(Scope.close(scope, exit), permits.release(1))),
          Effect.forkIn(calls)
        )
      })
    )
    return yield* Effect.forever(serveNext)
  }).pipe(
    Effect.scoped,
    Effect.catchIf(
      (error) => error.reason === "closed",
      () => Effect.void
    )
  )
