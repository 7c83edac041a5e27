const smallestAllocation = 256

/** Bytes gathered until they are needed as one piece; grows with what arrives, never with what is announced. */
export class ByteBuffer {
  private bytes = new Uint8Array(0)
  private length = 0

  get size(): number {
    return this.length
  }

  append(chunk: Uint8Array): void {
    const needed = this.length + chunk.length
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, smallestAllocation))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.bytes.set(chunk, this.length)
    this.length = needed
  }

  /** Everything gathered; the buffer is empty afterwards and does not touch the answer again. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length)
    this.bytes = new Uint8Array(0)
    this.length = 0
    return taken
  }
}

/** Several pieces as one. */
export const concatenate = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = pieces
  if (first !== undefined && pieces.length === 1) return first
  const joined = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.length
  }
  return joined
}
