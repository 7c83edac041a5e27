/** The latest output of a process, within a bound. */

/** Bytes of memory that a piece needs beside its content. */
const overhead = 128

/** Pieces up to this many bytes are put together with what follows them. */
const smallPiece = 4096

export type Channel = 1 | 2

/** Output of one channel: 1 is stdout or the terminal, 2 is stderr. */
export interface Piece {
  readonly channel: Channel
  /** Bytes of both channels before it. */
  readonly offset: number
  readonly bytes: Buffer
}

/** Keeps the last bytes of the two outputs of a process. Offsets count the bytes of both together. */
export class Ring {
  private pieces: Array<Piece> = []
  private cost = 0
  /** The offset behind the last byte. */
  end = 0

  constructor(private readonly capacity: number) {}

  /** The offset of the first byte that is kept. */
  get start(): number {
    return this.pieces[0]?.offset ?? this.end
  }

  get size(): number {
    return this.end - this.start
  }

  add(channel: Channel, bytes: Buffer): void {
    const last = this.pieces.at(-1)
    if (last?.channel === channel && last.bytes.length + bytes.length <= smallPiece) {
      this.pieces[this.pieces.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, bytes]) }
    } else {
      this.pieces.push({ channel, offset: this.end, bytes })
      this.cost += overhead
    }
    this.cost += bytes.length
    this.end += bytes.length
    let dropped = 0
    while (this.cost > this.capacity && dropped < this.pieces.length - 1) {
      this.cost -= overhead + (this.pieces[dropped]?.bytes.length ?? 0)
      dropped += 1
    }
    if (dropped > 0) this.pieces.splice(0, dropped)
  }

  /** The output from an offset to the end of its piece, or from the first byte that is kept; undefined while nothing has been written there. */
  from(offset: number): Piece | undefined {
    const piece = this.pieces[this.indexOf(offset)]
    if (piece === undefined || offset >= this.end) return undefined
    const skipped = Math.max(0, offset - piece.offset)
    return skipped === 0 ? piece : { channel: piece.channel, offset, bytes: piece.bytes.subarray(skipped) }
  }

  /** The index of the last piece that begins at the offset or before it. */
  private indexOf(offset: number): number {
    let [low, high] = [0, this.pieces.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.pieces[middle]?.offset ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
