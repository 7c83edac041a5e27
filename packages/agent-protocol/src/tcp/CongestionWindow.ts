import { distance } from "./Sequence.js"

/** Segments that are sent before the first acknowledgment (RFC 6928). */
const initialSegments = 10

/** How many bytes may be under way: slow start, congestion avoidance and recovery from a loss (RFC 5681 and 6582). */
export class CongestionWindow {
  readonly #segmentLength: number
  readonly #largest: number
  #size: number
  #threshold = Number.POSITIVE_INFINITY
  #duplicates = 0
  /** The end of what had been sent when a loss was noticed. */
  #recoverTo: number | undefined

  /** Begins for a connection that has opened. */
  constructor(segmentLength: number, largest: number) {
    this.#segmentLength = segmentLength
    this.#largest = largest
    this.#size = initialSegments * segmentLength
  }

  /** Whole bytes. */
  get size(): number {
    return Math.floor(this.#size)
  }

  /** Begins again with one segment after a timeout. */
  collapse(inFlight: number): void {
    this.#threshold = this.#half(inFlight)
    this.#size = this.#segmentLength
    this.#duplicates = 0
    this.#recoverTo = undefined
  }

  /** Takes an acknowledgment of new bytes. Returns whether another segment of the same loss is missing, and has to be sent again. */
  advance(acknowledgment: number, count: number): boolean {
    const full = this.#segmentLength
    this.#duplicates = 0
    if (this.#recoverTo === undefined) {
      // A peer that acknowledges each byte by itself gets no more (RFC 3465)
      const grown = this.#size < this.#threshold ? Math.min(count, full) : Math.max(1, (full * full) / this.#size)
      this.#size = Math.min(this.#largest, this.#size + grown)
      return false
    }
    if (distance(this.#recoverTo, acknowledgment) >= 0) {
      this.#recoverTo = undefined
      this.#size = this.#threshold
      return false
    }
    this.#size = Math.max(full, this.#size - count + full)
    return true
  }

  /** Takes an acknowledgment that repeats the last one. Returns whether it tells of a loss: the oldest segment has to be sent again. */
  repeat(highest: number, inFlight: number): boolean {
    this.#duplicates += 1
    if (this.#recoverTo !== undefined) {
      this.#size = Math.min(this.#largest, this.#size + this.#segmentLength)
      return false
    }
    if (this.#duplicates !== 3) return false
    this.#threshold = this.#half(inFlight)
    this.#recoverTo = highest
    this.#size = this.#threshold + 3 * this.#segmentLength
    return true
  }

  #half(inFlight: number): number {
    return Math.max(inFlight / 2, 2 * this.#segmentLength)
  }
}
