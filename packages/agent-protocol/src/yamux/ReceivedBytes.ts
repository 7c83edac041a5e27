import { ByteBuffer } from "../ByteBuffer.js"

/** Bytes of a piece to which no more are joined. */
const fullPiece = 32 * 1024

/** Bytes that wait to be read. Small pieces are joined, and large ones are passed on as they came. */
export class ReceivedBytes {
  private readonly pieces: Array<ByteBuffer> = []
  private length = 0

  get size(): number {
    return this.length
  }

  /** Adds bytes, which may not change afterwards. */
  append(bytes: Uint8Array): void {
    const last = this.pieces.at(-1)
    const piece = last === undefined || last.size >= fullPiece ? new ByteBuffer() : last
    if (piece !== last) this.pieces.push(piece)
    piece.append(bytes)
    this.length += bytes.length
  }

  /** Takes the first bytes; empty if nothing was received. */
  take(): Uint8Array {
    const bytes = this.pieces.shift()?.take() ?? new Uint8Array(0)
    this.length -= bytes.length
    return bytes
  }

  /** Drops all bytes, and answers how many there were. */
  clear(): number {
    const dropped = this.length
    this.pieces.length = 0
    this.length = 0
    return dropped
  }
}
