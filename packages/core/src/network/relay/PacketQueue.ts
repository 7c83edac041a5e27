/** What waits for a connection that takes no more at present: bounded in number and bytes, and the oldest is lost first. */
export class PacketQueue {
  readonly #maximumCount: number
  readonly #maximumBytes: number
  #packets: Array<Uint8Array> = []
  #first = 0
  #bytes = 0

  constructor(maximumCount: number, maximumBytes: number) {
    this.#maximumCount = maximumCount
    this.#maximumBytes = maximumBytes
  }

  get length(): number {
    return this.#packets.length - this.#first
  }

  /** Adds a packet. Older ones are lost where there is no room for it. */
  offer(packet: Uint8Array): void {
    this.#packets.push(packet)
    this.#bytes += packet.length
    while (this.length > this.#maximumCount || (this.#bytes > this.#maximumBytes && this.length > 1)) this.take()
  }

  /** Removes the oldest packet. */
  take(): Uint8Array | undefined {
    const packet = this.#packets[this.#first]
    if (packet === undefined) return undefined
    this.#bytes -= packet.length
    this.#first++
    // Taken packets are let go of together: removing each by itself would move all others
    if (this.#first === this.#packets.length || this.#first >= this.#maximumCount) {
      this.#packets = this.#packets.slice(this.#first)
      this.#first = 0
    }
    return packet
  }

  /** Puts another packet in the place of each. */
  replaceEach(replacement: (packet: Uint8Array) => Uint8Array): void {
    this.#packets = this.#packets.slice(this.#first).map(replacement)
    this.#first = 0
  }
}
