import type { SessionEnded } from "./YamuxError.js"
import type { YamuxStream } from "./YamuxStream.js"

/** Streams waiting to be accepted; further ones are reset. */
export const maximumBacklog = 256

/** Streams of the peer that wait to be accepted, in their order. */
export class Backlog {
  private streams: Array<YamuxStream> = []
  private ended: SessionEnded | undefined = undefined
  /** Replaced with each change: one caller waits, mostly, and a set takes 150 bytes of each session. */
  private waiting: ReadonlyArray<() => void> = []

  /** Adds a stream, without a call of those that wait for one; false where too many wait. */
  add(stream: YamuxStream): boolean {
    if (this.ended !== undefined || this.streams.length >= maximumBacklog) return false
    this.streams.push(stream)
    return true
  }

  /** Accepts no more streams. */
  end(why: SessionEnded): void {
    this.ended = why
    this.streams = []
    this.wake()
  }

  /** Accepts the next stream that is not broken. Returns undefined while no stream waits. */
  take(): YamuxStream | SessionEnded | undefined {
    for (let stream = this.streams.shift(); stream !== undefined; stream = this.streams.shift()) {
      if (stream.isBroken) continue
      stream.accept()
      this.compact()
      return stream
    }
    this.compact()
    return this.ended
  }

  /** An array keeps the room that it once had. */
  private compact(): void {
    if (this.streams.length === 0) this.streams = []
  }

  /** Calls `ready` once when there is a stream, or the end, which may be now. */
  await(ready: () => void): void {
    if (this.streams.length > 0 || this.ended !== undefined) return ready()
    if (!this.waiting.includes(ready)) this.waiting = [...this.waiting, ready]
  }

  /** Calls `ready` no longer. */
  forget(ready: () => void): void {
    this.waiting = this.waiting.filter((other) => other !== ready)
  }

  /** Has all that wait look again: one alone might no longer want the stream. */
  wake(): void {
    const ready = this.waiting
    this.waiting = []
    for (const look of ready) look()
  }
}
