/** What goes to a client on one channel, within bounds. */
import type { Duplex, Readable, Writable } from "node:stream"
import type { ServerChannel } from "ssh2"

/** Bytes of one channel that wait for the client above which their sources wait. */
const maximumUnsent = 256 * 1024

/** Bytes of all channels that wait for the connection above which their sources wait. */
const maximumWaiting = 2 * 1024 * 1024

interface Waiting {
  readonly stream: Writable
  readonly bytes: Buffer
  readonly done: (() => void) | undefined
}

/** Fields of a channel in which the library keeps what waits for the client's window. It does not empty them, and would send their content again. */
const kept = ["_chunk", "_chunkcb", "_chunkErr", "_chunkcbErr"] as const

/**
 * Writes to a channel, its output and its errors in one order. One write is under way at a time: of two that wait for the client, the library would forget
 * one.
 */
export class Output {
  private readonly queue: Array<Waiting> = []
  private readonly sources: Array<(isPaused: boolean) => void> = []
  private unsent = 0
  private isWriting = false
  private isPaused = false
  private isWaiting = false

  constructor(
    readonly channel: ServerChannel,
    private readonly connection: Duplex
  ) {}

  write(bytes: Buffer, done?: () => void): void {
    this.add(this.channel, bytes, done)
  }

  /** Writes to the errors of a session. */
  writeError(bytes: Buffer, done?: () => void): void {
    this.add(this.channel.stderr, bytes, done)
  }

  /** Has a source wait while the client or the connection has enough. */
  pausing(pause: (isPaused: boolean) => void): void {
    this.sources.push(pause)
  }

  /** Reads a stream until its end. */
  pump(source: Readable, take: (bytes: Buffer) => void): void {
    this.pausing((isPaused) => void (isPaused ? source.pause() : source.resume()))
    source.on("data", take)
  }

  /** Calls back when all that was written has been sent. */
  flush(done: () => void): void {
    if (this.queue.length === 0 && !this.isWriting) done()
    else this.write(Buffer.alloc(0), done)
  }

  /** Resolves when so much was sent that more may be written. */
  get room(): Promise<void> | undefined {
    return this.unsent > maximumUnsent || this.connection.writableLength > maximumWaiting
      ? new Promise((resolve) => this.flush(() => this.whenTaken(resolve)))
      : undefined
  }

  /** Tells how a session's program ended, after its output, and closes the channel. */
  finish(code: number, signal?: string): void {
    this.flush(() => {
      if (signal === undefined) this.channel.exit(code)
      else this.channel.exit(signal, false, "")
      this.channel.end()
    })
  }

  private whenTaken(done: () => void): void {
    if (this.connection.writableLength > maximumWaiting) this.connection.once("drain", done)
    else done()
  }

  private add(stream: Writable, bytes: Buffer, done: (() => void) | undefined): void {
    this.unsent += bytes.length
    this.queue.push({ stream, bytes, done })
    this.next()
    this.settle()
  }

  private next(): void {
    const first = this.isWriting ? undefined : this.queue.shift()
    if (first === undefined) return
    this.isWriting = true
    first.stream.write(first.bytes, () => {
      this.isWriting = false
      this.unsent -= first.bytes.length
      for (const field of kept) Reflect.set(this.channel, field, undefined)
      first.done?.()
      this.next()
      this.settle()
    })
  }

  private settle(): void {
    if (this.connection.writableLength > maximumWaiting && !this.isWaiting) {
      this.isWaiting = true
      this.connection.once("drain", () => {
        this.isWaiting = false
        this.settle()
      })
    }
    const shouldPause = this.isWaiting || this.unsent > maximumUnsent
    if (shouldPause === this.isPaused) return
    this.isPaused = shouldPause
    for (const pause of this.sources) pause(shouldPause)
  }
}
