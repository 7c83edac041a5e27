import { Effect } from "effect"
import { concatenate } from "../ByteBuffer.js"

/** Bytes waiting to be sent beyond which streams wait before adding more. */
const highWater = 256 * 1024

/** Frames waiting to be sent beyond which streams wait before adding more. */
const highWaterFrames = 4096

/** Frames waiting to be sent beyond which the peer counts as not reading: its pings and opened streams are answered without waiting. */
const maximumFrames = 8192

/** Bytes given to the transport at once, unless a single frame has more. */
const batchBytes = 64 * 1024

/** Frames waiting to be sent, in order. */
export class Outbox {
  private frames: Array<Uint8Array> = []
  private size = 0
  private ended = false
  private readonly filled = Effect.unsafeMakeLatch()
  private readonly waiting = new Set<() => void>()

  /**
   * Completes when a stream may add data: for one stream at a time, since each would wake up only to find that another has taken the room. It calls `passOn`
   * when it adds no more.
   */
  readonly room: Effect.Effect<void> = Effect.async((resume) => {
    const go = (): void => resume(Effect.void)
    if (this.ended || this.hasRoom) return go()
    this.waiting.add(go)
    return Effect.sync(() => void this.waiting.delete(go))
  })

  /** Lets the stream that has waited longest add data, if there is room. */
  passOn(): void {
    const [first] = this.hasRoom || this.ended ? this.waiting : []
    if (first === undefined) return
    this.waiting.delete(first)
    first()
  }

  /** Whether a stream may add data now. */
  get hasRoom(): boolean {
    return this.size < highWater && this.frames.length < highWaterFrames
  }

  /** Adds a frame; false when the peer lets too many pile up. Adding after the end does nothing. */
  add(frame: Uint8Array): boolean {
    if (this.ended) return true
    this.frames.push(frame)
    this.size += frame.length
    this.filled.unsafeOpen()
    return this.frames.length <= maximumFrames
  }

  /** Nothing will be added. */
  end(): void {
    this.ended = true
    this.filled.unsafeOpen()
    while (this.waiting.size > 0) this.passOn()
  }

  /** The next bytes to send, waiting for some; an empty array after the end. */
  readonly next: Effect.Effect<Uint8Array> = Effect.suspend(() => {
    if (this.frames.length === 0 && !this.ended) {
      this.filled.unsafeClose()
      return Effect.zipRight(this.filled.await, this.next)
    }
    let count = 0
    let bytes = 0
    for (const frame of this.frames) {
      if (count > 0 && bytes + frame.length > batchBytes) break
      count += 1
      bytes += frame.length
    }
    const batch = concatenate(this.frames.slice(0, count))
    this.frames = this.frames.slice(count)
    this.size -= bytes
    this.passOn()
    return Effect.succeed(batch)
  })
}
