const words = 64
const bits = 32 * words

/** How far a packet may be behind the newest one. One word is being cleared while the window moves. */
const span = bits - 32

/** Remembers which counters have arrived, so that a packet is taken once (RFC 6479). */
export class ReplayWindow {
  #newest = -1
  readonly #seen = new Uint32Array(words)

  /** Whether a packet with this counter is new. */
  isNew(counter: number): boolean {
    if (counter > this.#newest) return true
    if (this.#newest - counter >= span) return false
    return ((this.#seen[this.#wordOf(counter)] ?? 0) & (1 << (counter % 32))) === 0
  }

  /** Notes a packet that is new and has proved to be the peer's. */
  add(counter: number): void {
    if (counter > this.#newest) {
      const from = Math.floor(this.#newest / 32)
      const to = Math.floor(counter / 32)
      for (let word = Math.max(from, to - words) + 1; word <= to; word++) this.#seen[word % words] = 0
      this.#newest = counter
    }
    const word = this.#wordOf(counter)
    this.#seen[word] = (this.#seen[word] ?? 0) | (1 << (counter % 32))
  }

  #wordOf(counter: number): number {
    return Math.floor(counter / 32) % words
  }
}
