/**
 * Reads answers of HTTP/1.1 from the bytes of a connection, as strictly as Node's own parser does (RFC 9112): what two readers could understand in two ways is no
 * answer. Bodies are passed on in the pieces in which they come.
 */

import { Loans } from "@atelier/agent-protocol"

/** Bytes of the heads of an answer: its own, and those of the interim answers before it. */
const maximumHead = 64 * 1024

/** Bytes of the line before a chunk, and of all lines behind the last one. */
const maximumChunkLine = 16 * 1024

/** How many times its own bytes a piece of a body may keep in memory while it waits for the client. A smaller piece is copied. */
const maximumShare = 16

/** Where what an answer says goes to. */
export interface Receiver {
  /** Names and values in turn. A head that repeats the one before on its connection is the same list. */
  readonly head: (status: number, rawHeaders: ReadonlyArray<string>, isRepeated: boolean) => void
  /** The head has come without a beginning of its body. */
  readonly bare?: () => void
  /** A piece of the body, which is part of a larger buffer. Nothing follows the last one. Who is done with it may give it back (`Loans`). */
  readonly data: (bytes: Uint8Array, isLast: boolean) => void
  /** The answer is whole. Says whether the connection may carry another one. */
  readonly end: (isReusable: boolean) => void
  /** What came is no answer. */
  readonly fail: (message: string) => void
}

const headEnd = Buffer.from("\r\n\r\n")
const lineEnd = Buffer.from("\r\n")
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const chunkLine = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/
const digits = /^\d{1,15}$/

const notHttp = "Its answer is not HTTP."

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** A value without the spaces and tabs around it. An expression would take the square of a value's length, and `trim` would take bytes above ASCII too. */
const trimmed = (value: string): string => {
  let [start, end] = [0, value.length]
  while (start < end && isSpace(value.charCodeAt(start))) start++
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

/** How the body ends. */
type Framing = { readonly left: number } | "chunked" | "close"

/** Characters of a head that is kept. */
const maximumKept = 4_096

/** The last head of a connection. Apps repeat most of theirs within a second. */
export class LastHead {
  private text = ""
  private isHead = false
  private head: Head | undefined

  /** What the text says, and whether it is the same as before. */
  read(text: string, isHead: boolean): { readonly head: Head | undefined; readonly isRepeated: boolean } {
    if (this.head !== undefined && text === this.text && isHead === this.isHead) return { head: this.head, isRepeated: true }
    const head = parsed(text, isHead)
    const isKept = text.length <= maximumKept
    this.text = isKept ? text : ""
    this.isHead = isHead
    this.head = isKept ? head : undefined
    return { head, isRepeated: false }
  }
}

interface Head {
  readonly status: number
  readonly rawHeaders: ReadonlyArray<string>
  readonly framing: Framing
  readonly isKept: boolean
}

/** The head of an answer; undefined for a text that is no head. `isHead` tells that the request was one for the head alone. */
const parsed = (text: string, isHead: boolean): Head | undefined => {
  const lines = text.split("\r\n")
  const [, minor, code] = statusLine.exec(lines[0] ?? "") ?? []
  if (code === undefined) return undefined
  const status = Number(code)
  const rawHeaders: Array<string> = []
  let length: number | undefined
  let isChunked = false
  let isKept = minor === "1"
  for (let at = 1; at < lines.length; at++) {
    const [, name = "", padded = ""] = field.exec(lines[at] ?? "") ?? []
    if (name === "") return undefined
    const value = trimmed(padded)
    rawHeaders.push(name, value)
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      if (length !== undefined || !digits.test(value)) return undefined
      length = Number(value)
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      // Other codings would be part of what is passed on, without their name
      if (isChunked || value.toLowerCase() !== "chunked") return undefined
      isChunked = true
    } else if (name.length === 10 && name.toLowerCase() === "connection" && /(?:^|,)\s*(?:close|upgrade)\s*(?:,|$)/i.test(value)) {
      isKept = false
    }
  }
  if (isChunked && (length !== undefined || minor === "0")) return undefined
  const isBodiless = isHead || status < 200 || status === 204 || status === 304
  const framing = isBodiless ? { left: 0 } : isChunked ? "chunked" : length === undefined ? "close" : { left: length }
  return { status, rawHeaders, framing, isKept: isKept && framing !== "close" }
}

const firstBytes = Buffer.from("HTTP/1.")

/** Whether bytes can be the beginning of a head. The bytes before `from` were checked earlier. */
const isBegun = (bytes: Buffer, from: number): boolean => {
  const size = Math.min(bytes.length, firstBytes.length)
  if (firstBytes.compare(bytes, 0, size, 0, size) !== 0) return false
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) if (bytes[at - 1] !== 0x0d) return false
  return true
}

const nothing = Buffer.alloc(0)

type State = "head" | "length" | "close" | "chunk" | "in chunk" | "behind chunk" | "trailers" | "over"

/** Reads one answer. */
export class AnswerReader {
  private state: State = "head"
  /** The buffer begins with the part that has come of a line or head. */
  private room: Buffer = nothing
  /** How many bytes those are. */
  private gathered = 0
  /** How many of them are not looked at again. */
  private searched = 0
  /** Bytes of the chunk that is read which the receiver has. */
  private passed = 0
  private left = 0
  private heads = 0
  private trailers = 0
  private isKept = false
  /** Whether the head was told from the bytes that are being read, and nothing behind it. */
  private isBare = false

  constructor(
    private readonly isHead: boolean,
    private readonly receiver: Receiver,
    private readonly last = new LastHead()
  ) {}

  /** Takes the next bytes of the connection. Those that are not passed on as pieces of the body are given back. */
  take(chunk: Uint8Array): void {
    const isJoined = this.gathered > 0
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    if (isJoined) bytes = this.joined(bytes)
    this.passed = 0
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0 && this.state !== "over") rest = this.step(rest)
    if (this.isBare) {
      this.isBare = false
      if (this.state !== "over") this.receiver.bare?.()
    }
    // Bytes that nothing has asked for
    if (this.state === "over" && rest !== undefined && rest.length > 0) this.isKept = false
    Loans.giveBack(chunk.buffer, isJoined ? chunk.length : chunk.length - this.passed)
    if (this.state === "over") this.finish()
  }

  /** The app sends no more. */
  close(): void {
    if (this.state === "close") {
      this.receiver.data(new Uint8Array(0), true)
      this.isKept = false
      this.state = "over"
      this.finish()
    } else if (this.state === "head" && this.gathered === 0) {
      this.fail("It broke the connection off without an answer.")
    } else {
      this.fail(notHttp)
    }
  }

  private isFinished = false

  private finish(): void {
    if (this.isFinished) return
    this.isFinished = true
    this.receiver.end(this.isKept)
  }

  private fail(message: string): undefined {
    if (this.isFinished) return undefined
    this.isFinished = true
    this.state = "over"
    this.receiver.fail(message)
    return undefined
  }

  /** Puts bytes behind those that are gathered. The room doubles, so that many small pieces take about the time of a large one. */
  private joined(bytes: Buffer): Buffer {
    const size = this.gathered + bytes.length
    if (size > this.room.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, this.room.length * 2))
      this.room.copy(larger, 0, 0, this.gathered)
      this.room = larger
    }
    bytes.copy(this.room, this.gathered)
    this.gathered = 0
    return this.room.subarray(0, size)
  }

  /** Gathers bytes until more come. An end that they lack may begin with `overlap` of them. */
  private gather(bytes: Buffer, overlap: number): undefined {
    if (bytes.buffer !== this.room.buffer || bytes.byteOffset !== this.room.byteOffset) this.room = Buffer.from(bytes)
    this.gathered = bytes.length
    this.searched = Math.max(0, bytes.length - overlap)
    return undefined
  }

  /** Where an end begins; negative where it has not come. */
  private endOf(bytes: Buffer, end: Buffer): number {
    const at = bytes.indexOf(end, this.searched)
    if (at < 0) return at
    // Pieces of a body may follow, which the room has to leave as they are
    this.room = nothing
    this.searched = 0
    return at
  }

  /** Reads what the state asks for, and returns the bytes behind it; undefined where more has to come. */
  private step(bytes: Buffer): Buffer | undefined {
    switch (this.state) {
      case "head":
        return this.readHead(bytes)
      case "length":
      case "in chunk":
        return this.readBody(bytes)
      case "close":
        this.pass(bytes, false)
        return undefined
      case "chunk":
        return this.readChunkLine(bytes)
      case "behind chunk":
        return this.readChunkEnd(bytes)
      case "trailers":
        return this.readTrailer(bytes)
      default:
        return bytes
    }
  }

  private readHead(bytes: Buffer): Buffer | undefined {
    const end = this.endOf(bytes, headEnd)
    const size = end < 0 ? bytes.length : end + 4
    if (this.heads + size > maximumHead) return this.fail("The head of its answer is too large.")
    if (end < 0) {
      // Otherwise a program that speaks another protocol would be waited for
      if (!isBegun(bytes, this.searched)) return this.fail(notHttp)
      return this.gather(bytes, headEnd.length - 1)
    }
    const { head, isRepeated } = this.last.read(bytes.toString("latin1", 0, end), this.isHead)
    // No other protocol was asked for
    if (head === undefined || head.status === 101) return this.fail(notHttp)
    const rest = bytes.subarray(size)
    this.heads += size
    // Interim answers (RFC 9110 §15.2) are for whom sends a body
    if (head.status < 200) return rest
    const { framing, isKept, rawHeaders, status } = head
    this.isKept = isKept
    if (framing === "chunked") this.state = "chunk"
    else if (framing === "close") this.state = "close"
    else {
      this.left = framing.left
      this.state = framing.left === 0 ? "over" : "length"
    }
    this.isBare = true
    this.receiver.head(status, rawHeaders, isRepeated)
    return rest
  }

  private readBody(bytes: Buffer): Buffer | undefined {
    const piece = bytes.length <= this.left ? bytes : bytes.subarray(0, this.left)
    this.left -= piece.length
    const isWhole = this.left === 0 && this.state === "length"
    if (isWhole) this.state = "over"
    else if (this.left === 0) this.state = "behind chunk"
    this.pass(piece, isWhole)
    return piece.length === bytes.length ? undefined : bytes.subarray(piece.length)
  }

  /** The next line, without its end; undefined where more has to come. */
  private line(bytes: Buffer): string | undefined {
    const end = this.endOf(bytes, lineEnd)
    if ((end < 0 ? bytes.length : end) > maximumChunkLine) return this.fail(notHttp)
    if (end >= 0) return bytes.toString("latin1", 0, end)
    return this.gather(bytes, lineEnd.length - 1)
  }

  private pass(piece: Buffer, isLast: boolean): void {
    this.isBare = false
    if (piece.length * maximumShare < piece.buffer.byteLength) return this.receiver.data(Buffer.from(piece), isLast)
    this.passed += piece.length
    this.receiver.data(piece, isLast)
  }

  private readChunkLine(bytes: Buffer): Buffer | undefined {
    const line = this.line(bytes)
    if (line === undefined) return undefined
    const size = chunkLine.exec(line)?.[1]
    if (size === undefined) return this.fail(notHttp)
    this.left = Number.parseInt(size, 16)
    this.state = this.left === 0 ? "trailers" : "in chunk"
    return bytes.subarray(line.length + 2)
  }

  private readChunkEnd(bytes: Buffer): Buffer | undefined {
    if (bytes.length < 2) return this.gather(bytes, bytes.length)
    if (bytes[0] !== 13 || bytes[1] !== 10) return this.fail(notHttp)
    this.state = "chunk"
    return bytes.subarray(2)
  }

  private readTrailer(bytes: Buffer): Buffer | undefined {
    const line = this.line(bytes)
    if (line === undefined) return undefined
    this.trailers += line.length + 2
    if (this.trailers > maximumChunkLine || (line !== "" && !field.test(line))) return this.fail(notHttp)
    if (line === "") {
      this.state = "over"
      this.receiver.data(new Uint8Array(0), true)
    }
    return bytes.subarray(line.length + 2)
  }
}
