/** Bytes waiting to be sent beyond which streams wait before adding more. */
const highWater = 256 * 1024

/** Frames waiting to be sent beyond which streams wait before adding more. */
const highWaterFrames = 4096

/** Frames waiting to be sent beyond which the peer counts as not reading: its pings and opened streams are answered without waiting. */
const maximumFrames = 8192

/** Bytes given to the transport at once, unless a single frame has more. */
const batchBytes = 256 * 1024

/** The bytes of a frame: its header, and its payload behind it. */
export interface Frame {
  readonly head: Uint8Array
  readonly payload?: Uint8Array
  /** Called once the frame has been sent. */
  readonly sent?: (() => void) | undefined
}

/** Frames that are sent together. */
export interface Batch {
  readonly pieces: ReadonlyArray<Uint8Array>
  /** Tells that they have been sent. */
  readonly sent: () => void
}

const sizeOf = ({ head, payload }: Frame): number => head.length + (payload?.length ?? 0)

/** Frames waiting to be sent, in order. */
export class Outbox {
  private frames: Array<Frame> = []
  private size = 0
  private hasEnded = false
  /** Made when a stream has to wait, which few sessions meet. */
  private waiting: Set<() => void> | undefined = undefined
  /** Whether a stream is being let on, and whether it has passed on during that. */
  private isPassing = false
  private hasPassedOn = false
  /** Called when there are frames again, or the end. */
  private filled: (() => void) | undefined = undefined
  private full: { readonly frames: number; readonly call: () => void } | undefined = undefined

  /** Calls back each time so many frames have come to wait. */
  whenFull(frames: number, call: () => void): void {
    this.full = { frames, call }
  }

  /**
   * Calls `go` when a stream may add data: one stream at a time, since each would wake up only to find that another has taken the room. It calls `passOn`
   * when it adds no more. Returns how to wait no longer.
   */
  whenRoom(go: () => void): () => void {
    const waiting = (this.waiting ??= new Set())
    waiting.add(go)
    return () => void waiting.delete(go)
  }

  /** Lets the stream that has waited longest add data, if there is room. */
  passOn(): void {
    this.hasPassedOn = true
    // The stream that is being let on passes on within its call: a loop, so that many that wait do not fill the stack
    if (this.isPassing) return
    this.isPassing = true
    try {
      while (this.hasPassedOn || this.hasEnded) {
        this.hasPassedOn = false
        const [first] = this.hasRoom || this.hasEnded ? (this.waiting ?? []) : []
        if (first === undefined) return
        this.waiting?.delete(first)
        first()
      }
    } finally {
      this.isPassing = false
    }
  }

  /** Whether a stream may add data now. */
  get hasRoom(): boolean {
    return this.size < highWater && this.frames.length < highWaterFrames
  }

  /** Whether nothing will be added. */
  get isOver(): boolean {
    return this.hasEnded
  }

  /** Adds a frame; false when the peer lets too many pile up. Adding after the end does nothing. */
  add(frame: Frame): boolean {
    if (this.hasEnded) return true
    this.frames.push(frame)
    this.size += sizeOf(frame)
    this.wake()
    if (this.full?.frames === this.frames.length) this.full.call()
    return this.frames.length <= maximumFrames
  }

  /** Nothing will be added. */
  end(): void {
    this.hasEnded = true
    this.wake()
    this.passOn()
  }

  /** Takes the next bytes to send; undefined where nothing waits. Then `filled` is called once when there is something, or with the end. */
  take(filled: () => void): Batch | undefined {
    if (this.frames.length === 0) {
      if (!this.hasEnded) this.filled = filled
      return undefined
    }
    let count = 0
    let bytes = 0
    for (const frame of this.frames) {
      const size = sizeOf(frame)
      if (count > 0 && bytes + size > batchBytes) break
      count += 1
      bytes += size
    }
    const frames = this.frames.splice(0, count)
    // An array keeps the room that it once had
    if (this.frames.length === 0) this.frames = []
    this.size -= bytes
    this.passOn()
    const pieces: Array<Uint8Array> = []
    for (const { head, payload } of frames) {
      pieces.push(head)
      if (payload !== undefined) pieces.push(payload)
    }
    return {
      pieces,
      sent: () => {
        for (const { sent } of frames) sent?.()
      }
    }
  }

  private wake(): void {
    const { filled } = this
    this.filled = undefined
    filled?.()
  }
}
