/** The yamux frame: a 12-byte big-endian header, followed by a payload on data frames only. Spec: agents-and-apps.md §13. */
import * as Loans from "../Loans.js"

export const frameVersion = 0
export const headerLength = 12

export const Type = { Data: 0, WindowUpdate: 1, Ping: 2, GoAway: 3 } as const
export type Type = (typeof Type)[keyof typeof Type]

/** Bits of a header's `flags`. */
export const Flag = { SYN: 1, ACK: 2, FIN: 4, RST: 8 } as const

/** The codes in the `length` of a GoAway frame. */
export const GoAwayCode = { Normal: 0, ProtocolError: 1, InternalError: 2 } as const

export interface Header {
  readonly type: Type
  readonly flags: number
  /** 0 for Ping and GoAway. */
  readonly streamId: number
  /** Payload bytes (Data), window increment (WindowUpdate), opaque value (Ping) or code (GoAway). */
  readonly length: number
}

/** One frame's bytes. The payload is copied. To make a `DataView` of each frame takes ten times as long. */
export const encode = ({ flags, length, streamId, type }: Header, payload?: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(headerLength + (payload?.length ?? 0))
  bytes[0] = frameVersion
  bytes[1] = type
  bytes[2] = flags >>> 8
  bytes[3] = flags
  bytes[4] = streamId >>> 24
  bytes[5] = streamId >>> 16
  bytes[6] = streamId >>> 8
  bytes[7] = streamId
  bytes[8] = length >>> 24
  bytes[9] = length >>> 16
  bytes[10] = length >>> 8
  bytes[11] = length
  if (payload !== undefined) bytes.set(payload, headerLength)
  return bytes
}

/** The header of a data frame without its payload. */
export const encodeDataHead = (streamId: number, length: number): Uint8Array => encode({ type: Type.Data, flags: 0, streamId, length })

export const encodeData = (streamId: number, payload: Uint8Array, flags = 0): Uint8Array =>
  encode({ type: Type.Data, flags, streamId, length: payload.length }, payload)

/**
 * A result of decoding: a header; then, for data frames, the payload in the pieces in which it arrived, the last one marked; or bytes that
 * are not a frame, after which nothing more is found.
 */
export type Event =
  | { readonly _tag: "Header"; readonly header: Header }
  | { readonly _tag: "Payload"; readonly bytes: Uint8Array; readonly last: boolean }
  | { readonly _tag: "Invalid"; readonly message: string }

const isType = (value: number): value is Type => value <= Type.GoAway

/** Where a header is gathered: all decoders share it, since one of their own would take 300 bytes of each connection. */
const gathering = new Uint8Array(headerLength)
const gatheredView = new DataView(gathering.buffer)

/** Finds frames in bytes chunked anyhow. It keeps at most a header: payloads are passed on as they come, whatever their announced length. */
export class Decoder {
  /** The begin of a header whose rest has not come. */
  private partial: Uint8Array | undefined = undefined
  private gathered = 0
  private remaining = 0
  private invalid = false

  private header(): Event {
    this.gathered = 0
    const version = gatheredView.getUint8(0)
    const type = gatheredView.getUint8(1)
    if (version !== frameVersion || !isType(type)) {
      this.invalid = true
      return { _tag: "Invalid", message: version === frameVersion ? `unknown frame type ${type}` : `unknown version ${version}` }
    }
    const header = {
      type,
      flags: gatheredView.getUint16(2),
      streamId: gatheredView.getUint32(4),
      length: gatheredView.getUint32(8)
    }
    if (type === Type.Data) this.remaining = header.length
    return { _tag: "Header", header }
  }

  *decode(chunk: Uint8Array): Generator<Event, void> {
    let offset = 0
    if (this.partial !== undefined) gathering.set(this.partial)
    this.partial = undefined
    while (offset < chunk.length && !this.invalid) {
      if (this.remaining > 0) {
        const bytes = chunk.subarray(offset, offset + this.remaining)
        this.remaining -= bytes.length
        offset += bytes.length
        yield { _tag: "Payload", bytes, last: this.remaining === 0 }
      } else {
        const bytes = chunk.subarray(offset, offset + headerLength - this.gathered)
        gathering.set(bytes, this.gathered)
        this.gathered += bytes.length
        offset += bytes.length
        Loans.giveBack(chunk.buffer, bytes.length)
        if (this.gathered === headerLength) yield this.header()
      }
    }
    if (this.gathered > 0) this.partial = gathering.slice(0, this.gathered)
  }
}
