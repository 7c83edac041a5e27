/** Bytes of this many or more stay in memory of their own; shorter ones share a page, so that many small pieces take little more than their bytes. */
const smallest = 512
const pageLength = 4096

interface Piece {
  readonly memory: Uint8Array
  start: number
  end: number
}

/** Bytes in the order in which they were added. It takes pieces whose memory does not change. */
export class ByteQueue {
  readonly #pieces: Array<Piece> = []
  #length = 0

  get length(): number {
    return this.#length
  }

  append(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#length += bytes.length
    const last = this.#pieces.at(-1)
    // A piece in memory of its own has no room
    if (last !== undefined && bytes.length <= last.memory.length - last.end) {
      last.memory.set(bytes, last.end)
      last.end += bytes.length
      return
    }
    const memory = bytes.length >= smallest ? bytes : new Uint8Array(pageLength)
    if (memory !== bytes) memory.set(bytes)
    this.#pieces.push({ memory, start: 0, end: bytes.length })
  }

  /** Takes what is there in one piece of memory: at least one byte, undefined without any. */
  take(): Uint8Array | undefined {
    const first = this.#pieces.shift()
    if (first === undefined) return undefined
    const taken = first.memory.subarray(first.start, first.end)
    this.#length -= taken.length
    return taken
  }

  /** Removes bytes at the front. */
  drop(count: number): void {
    let left = count
    while (left > 0) {
      const [first] = this.#pieces
      if (first === undefined) return
      const dropped = Math.min(left, first.end - first.start)
      first.start += dropped
      left -= dropped
      this.#length -= dropped
      if (first.start === first.end) this.#pieces.shift()
    }
  }

  /** Copies bytes from some place on, as many as there are. */
  copy(from: number, count: number): Uint8Array {
    const copied = new Uint8Array(Math.max(0, Math.min(count, this.#length - from)))
    let position = 0
    let skip = from
    for (const { end, memory, start } of this.#pieces) {
      if (position === copied.length) break
      const length = end - start
      if (skip >= length) {
        skip -= length
        continue
      }
      const some = memory.subarray(start + skip, Math.min(end, start + skip + copied.length - position))
      copied.set(some, position)
      position += some.length
      skip = 0
    }
    return copied
  }
}
