import type { SessionEnded } from "./YamuxError.js"
import type { YamuxStream } from "./YamuxStream.js"

/** Streams waiting to be accepted; further ones are reset. */
export const maximumBacklog = 256

/** Streams of the peer that wait to be accepted, in their order. */
export class Backlog {
  private streams: Array<YamuxStream> = []
  private ended: SessionEnded | undefined = undefined
  private readonly waiting = new Set<() => void>()

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
      return stream
    }
    return this.ended
  }

  /** Calls `ready` once when there is a stream, or the end, which may be now. */
  await(ready: () => void): void {
    if (this.streams.length > 0 || this.ended !== undefined) return ready()
    this.waiting.add(ready)
  }

  /** Calls `ready` no longer. */
  forget(ready: () => void): void {
    this.waiting.delete(ready)
  }

  /** Has all that wait look again: one alone might no longer want the stream. */
  wake(): void {
    if (this.waiting.size === 0) return
    const ready = [...this.waiting]
    this.waiting.clear()
    for (const look of ready) look()
  }
}
