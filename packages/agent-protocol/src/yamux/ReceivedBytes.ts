import { ByteBuffer } from "../ByteBuffer.js"
import * as Loans from "../Loans.js"

/** Bytes of a piece to which no more are joined. */
const fullPiece = 32 * 1024

/** Bytes that wait to be read. Small pieces are joined, and large ones are passed on as they came. */
export class ReceivedBytes {
  private readonly pieces: Array<ByteBuffer | Uint8Array> = []
  private length = 0

  get size(): number {
    return this.length
  }

  /** Adds bytes, which may not change afterwards. A reader that waits for them takes them as they came. */
  append(bytes: Uint8Array, isAwaited: boolean): void {
    this.length += bytes.length
    if (isAwaited && this.pieces.length === 0) return void this.pieces.push(bytes)
    const last = this.pieces.at(-1)
    const isOpen = last instanceof ByteBuffer && last.size < fullPiece
    const piece = isOpen ? last : new ByteBuffer()
    if (!isOpen) this.pieces.push(piece)
    if (piece.append(bytes)) Loans.giveBack(bytes.buffer, bytes.length)
  }

  /** Takes the first bytes; empty if nothing was received. */
  take(): Uint8Array {
    const piece = this.pieces.shift()
    const bytes = piece instanceof ByteBuffer ? piece.take() : (piece ?? new Uint8Array(0))
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
