/** How long an acknowledgment may take before a segment is sent again (RFC 6298). All times are milliseconds. */

const firstTimeout = 1_000
const shortestTimeout = 400
const longestTimeout = 60_000

export class RoundTrip {
  #smoothed: number | undefined
  #variation = 0
  #timeout = firstTimeout

  get timeout(): number {
    return this.#timeout
  }

  /** Whether a segment was sent again since the timeout was the measured one. */
  get hasBackedOff(): boolean {
    return this.#timeout !== this.#measured()
  }

  /** Waits twice as long for the next acknowledgment. */
  backOff(): void {
    this.#timeout = Math.min(longestTimeout, this.#timeout * 2)
  }

  /** Returns to the timeout of the round trips that were measured. */
  restore(): void {
    this.#timeout = this.#measured()
  }

  measure(roundTrip: number): void {
    if (this.#smoothed === undefined) {
      this.#smoothed = roundTrip
      this.#variation = roundTrip / 2
    } else {
      this.#variation = 0.75 * this.#variation + 0.25 * Math.abs(this.#smoothed - roundTrip)
      this.#smoothed = 0.875 * this.#smoothed + 0.125 * roundTrip
    }
    this.restore()
  }

  #measured(): number {
    if (this.#smoothed === undefined) return firstTimeout
    return Math.min(longestTimeout, Math.max(shortestTimeout, this.#smoothed + 4 * this.#variation))
  }
}
