import { ByteQueue } from "./ByteQueue.js"
import { distance, plus } from "./Sequence.js"

/** Segments that may wait for one that was lost. */
const maximumGaps = 256

interface Gap {
  readonly sequence: number
  readonly data: Uint8Array
}

/** What has arrived of the peer: its bytes in their order, those that wait for others before them, and its end. */
export class Incoming {
  readonly #capacity: number
  readonly #bytes = new ByteQueue()
  #expected = 0
  #isScaled = false
  #gaps: Array<Gap> = []
  #fin: number | undefined
  #isFinished = false

  /** Begins before a connection has opened; `capacity` is in bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Begins with the first sequence number of a peer, which takes windows of more than 16 bits or not. */
  open(first: number, isScaled: boolean): void {
    this.#expected = first
    this.#isScaled = isScaled
  }

  /** The sequence number of the next byte. */
  get expected(): number {
    return this.#expected
  }

  /** Whether the peer has finished and nothing of it is missing. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Whether everything of the peer has been read, and nothing follows. */
  get isRead(): boolean {
    return this.#isFinished && this.#bytes.length === 0
  }

  /** Bytes that the peer may send. */
  get window(): number {
    const room = Math.max(0, this.#capacity - this.#bytes.length)
    return this.#isScaled ? room : Math.min(room, 0xffff)
  }

  /** Takes bytes that have arrived; undefined without any. */
  read(): Uint8Array | undefined {
    return this.#bytes.take()
  }

  /** Takes the data of a segment. Returns whether it holds the next byte, and whether data waits for others. */
  take(sequence: number, data: Uint8Array, isLast: boolean): { readonly isNext: boolean; readonly hadGaps: boolean } {
    // Of several ends the first one counts
    if (isLast) this.#fin ??= plus(sequence, data.length)
    const isNext = distance(this.#expected, sequence) <= 0
    if (isNext) this.#append(sequence, data)
    else this.#keep({ sequence, data })
    const hadGaps = this.#gaps.length > 0
    if (isNext) this.#fill()
    if (this.#fin === this.#expected) {
      this.#expected = plus(this.#expected, 1)
      this.#isFinished = true
      this.#gaps = []
    }
    return { isNext, hadGaps }
  }

  /** Forgets what waits for other bytes: none will come. */
  stop(): void {
    this.#gaps = []
  }

  /** Takes the new bytes of data that begins at or before the expected byte. */
  #append(sequence: number, data: Uint8Array): void {
    const limit = this.#fin === undefined ? Number.POSITIVE_INFINITY : distance(this.#expected, this.#fin)
    const fresh = data.subarray(distance(sequence, this.#expected))
    const taken = fresh.subarray(0, Math.max(0, Math.min(this.window, limit)))
    this.#bytes.append(taken)
    this.#expected = plus(this.#expected, taken.length)
  }

  #keep(gap: Gap): void {
    if (gap.data.length === 0 || this.#gaps.length >= maximumGaps) return
    const before = this.#gaps.findLastIndex(({ sequence }) => distance(sequence, gap.sequence) >= 0)
    const same = this.#gaps[before]
    if (same?.sequence === gap.sequence && same.data.length >= gap.data.length) return
    this.#gaps.splice(before + 1, 0, gap)
  }

  #fill(): void {
    for (;;) {
      const [gap] = this.#gaps
      if (gap === undefined || distance(this.#expected, gap.sequence) > 0) return
      this.#gaps.shift()
      if (distance(this.#expected, plus(gap.sequence, gap.data.length)) > 0) this.#append(gap.sequence, gap.data)
    }
  }
}
