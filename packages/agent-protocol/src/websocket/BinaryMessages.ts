/**
 * Binary messages of a WebSocket (RFC 6455 §5) as bytes whose borders carry no meaning. Libraries gather each message until it is whole, and send it as one piece: both
 * copy what comes in several pieces, which costs as much as to carry it.
 */
import * as Loans from "../Loans.js"

/** The first byte of a binary message that is one frame, without extensions. */
const wholeBinary = 0x82

const maskBit = 0x80
const closeCode = 0x8
const maximumHead = 14

/** The head of a binary message in one frame, with a mask that changes nothing where one has to be there. */
export const binaryHead = (length: number, isMasked: boolean): Uint8Array => {
  const mask = isMasked ? maskBit : 0
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const head = new Uint8Array(2 + lengthBytes + (isMasked ? 4 : 0))
  head[0] = wholeBinary
  head[1] = mask | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  // Byte by byte: to make a view of each head takes longer than all else
  for (let at = 1 + lengthBytes, left = length; at > 1; at--) {
    head[at] = left % 256
    left = Math.floor(left / 256)
  }
  return head
}

/** Bytes of a message, unless a single piece has more. */
const messageBytes = 128 * 1024

/** The frames of binary messages that carry pieces in their order, and how many they are. */
export const binaryFrames = (
  pieces: ReadonlyArray<Uint8Array>,
  isMasked: boolean
): { readonly frames: ReadonlyArray<Uint8Array>; readonly messages: number } => {
  const frames: Array<Uint8Array> = []
  let messages = 0
  for (let from = 0; from < pieces.length;) {
    let to = from
    let length = 0
    for (let piece = pieces[to]; piece !== undefined && (to === from || length + piece.length <= messageBytes); piece = pieces[to]) {
      length += piece.length
      to += 1
    }
    frames.push(binaryHead(length, isMasked))
    // One by one: a message may have more pieces than a call takes arguments
    for (const piece of pieces.slice(from, to)) frames.push(piece)
    messages += 1
    from = to
  }
  return { frames, messages }
}

export interface Options {
  /** Whether the frames have masks, as those of clients do. */
  readonly isMasked: boolean
  /** Takes a piece of a message, and learns whether it is the message's last one. */
  readonly take: (bytes: Uint8Array, isLast: boolean) => void
  /** Takes the bytes of all other frames: the library of the connection answers for them. */
  readonly pass: (bytes: Uint8Array) => void
}

/** Where a head is gathered: all connections share it, since one of their own would take 300 bytes of each. */
const head = new Uint8Array(maximumHead)
const view = new DataView(head.buffer)

/**
 * Takes binary messages that are one frame, and whose mask changes nothing, out of a connection's bytes in the pieces in which they come. Everything else is passed on as
 * it is: pings, texts, messages in several frames, and what breaks the protocol.
 */
export class BinaryMessages {
  /** The begin of a head whose rest has not come. */
  private partial: Uint8Array | undefined = undefined
  private gathered = 0
  private left = 0
  private isTaken = false
  /** Whether a message in several frames has begun. */
  private isFragmented = false
  /** Whether nothing follows that counts: behind a close frame, bytes would make an error of a proper end. */
  private isOver = false

  constructor(private readonly options: Options) {}

  receive(chunk: Uint8Array): void {
    let offset = 0
    let ofHeads = 0
    if (this.partial !== undefined) head.set(this.partial)
    this.partial = undefined
    while (offset < chunk.length) {
      if (this.left > 0) {
        const from = offset
        offset = Math.min(chunk.length, from + this.left)
        this.left -= offset - from
        // Not a `Buffer`: the bytes of messages would remain one
        if (this.isTaken) this.options.take(new Uint8Array(chunk.buffer, chunk.byteOffset + from, offset - from), this.left === 0)
        else this.options.pass(chunk.subarray(from, offset))
      } else if (this.isOver) {
        return
      } else {
        head[this.gathered++] = chunk[offset++] ?? 0
        ofHeads += 1
        if (this.gathered >= 2 && this.gathered === this.headLength) this.decide()
      }
    }
    if (this.gathered > 0) this.partial = head.slice(0, this.gathered)
    Loans.giveBack(chunk.buffer, ofHeads)
  }

  private get lengthBytes(): number {
    const length = view.getUint8(1) & 0x7f
    return length < 126 ? 0 : length === 126 ? 2 : 8
  }

  private get isMasked(): boolean {
    return view.getUint8(1) >= maskBit
  }

  private get headLength(): number {
    return 2 + this.lengthBytes + (this.isMasked ? 4 : 0)
  }

  private get length(): number {
    if (this.lengthBytes === 0) return view.getUint8(1) & 0x7f
    return this.lengthBytes === 2 ? view.getUint16(2) : view.getUint32(2) * 2 ** 32 + view.getUint32(6)
  }

  /** Decides about the frame whose head has come. */
  private decide(): void {
    const first = view.getUint8(0)
    const code = first & 0x0f
    const { isMasked, length } = this
    // The mask is the end of the head
    const changes = isMasked && view.getUint32(this.gathered - 4) !== 0
    const isImpossible = length > Number.MAX_SAFE_INTEGER
    this.isTaken = first === wholeBinary && !this.isFragmented && isMasked === this.options.isMasked && !changes && !isImpossible
    const passed = this.isTaken ? undefined : head.slice(0, this.gathered)
    if (code < closeCode) this.isFragmented = first < maskBit
    this.isOver = code === closeCode || isImpossible
    this.left = isImpossible ? 0 : length
    this.gathered = 0
    // Last: what it calls may have another connection gather a head
    if (passed !== undefined) this.options.pass(passed)
  }
}

/** A connection as far as its messages are taken out of it. */
interface Source {
  readonly listeners: (event: "data") => ReadonlyArray<Function>
  readonly removeAllListeners: (event: "data") => unknown
  readonly on: (event: "data", listener: (bytes: Uint8Array) => void) => unknown
}

/**
 * Has binary messages go to `take`, before the library that reads the connection's bytes. Returns whether it does: where other listeners read them too, all messages
 * remain with the library. `readBy` may read the connection in another way than by its events.
 */
export const takeBinary = (
  source: Source,
  options: Omit<Options, "pass">,
  readBy?: (take: (bytes: Uint8Array) => void) => unknown
): boolean => {
  const [library, ...others] = source.listeners("data")
  if (library === undefined || others.length > 0) return false
  // Field by field: V8 keeps a description of its own for what is spread
  const messages = new BinaryMessages({
    isMasked: options.isMasked,
    take: options.take,
    pass: (bytes) => void library.call(source, bytes)
  })
  source.removeAllListeners("data")
  const take = (bytes: Uint8Array): void => messages.receive(bytes)
  source.on("data", take)
  readBy?.(take)
  return true
}

/** A connection as far as frames are written to it. */
interface Sink {
  readonly cork: () => void
  readonly uncork: () => void
  readonly write: (bytes: Uint8Array, done?: (error?: Error | null) => void) => unknown
}

/** Writes pieces with one call of the system, and calls back when all have left. */
export const writeTogether = (sink: Sink, pieces: ReadonlyArray<Uint8Array>, done: (error?: Error | null) => void): void => {
  if (pieces.length === 0) return queueMicrotask(done)
  const last = pieces.length - 1
  if (last > 0) sink.cork()
  for (const [at, piece] of pieces.entries()) sink.write(piece, at === last ? done : undefined)
  if (last > 0) sink.uncork()
}
