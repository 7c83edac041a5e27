const smallestAllocation = 256

const empty = new Uint8Array(0)

/** Whether keeping a piece keeps little else in memory. A small piece may be a view of a large one. */
const fillsItsMemory = (piece: Uint8Array): boolean => 2 * piece.length >= piece.buffer.byteLength

/** Bytes gathered until they are needed as one piece; grows with what arrives, never with what is announced. */
export class ByteBuffer {
  private bytes: Uint8Array = empty
  private length = 0

  get size(): number {
    return this.length
  }

  /** Adds bytes, which may not change afterwards unless they are copied. Returns whether they are. */
  append(chunk: Uint8Array): boolean {
    if (this.length === 0 && fillsItsMemory(chunk)) {
      // A plain array, as it is otherwise: Node's buffers copy nothing where arrays do
      this.bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)
      this.length = chunk.length
      return false
    }
    const needed = this.length + chunk.length
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, smallestAllocation))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    this.bytes.set(chunk, this.length)
    this.length = needed
    return true
  }

  /** Everything gathered; the buffer is empty afterwards and does not touch the answer again. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length)
    this.bytes = empty
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
