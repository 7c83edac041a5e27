import { ByteBuffer } from "../ByteBuffer.js"

/**
 * DRPC packets: frames `control byte, stream id, message id, length, data` whose numbers are little-endian base-128 varints; the frames of one
 * packet share their ids and kind, and the last one is marked. Spec: agents-and-apps.md §13.
 */

export const Kind = { Invoke: 1, Message: 2, Error: 3, Cancel: 4, Close: 5, CloseSend: 6, InvokeMetadata: 7 } as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** Data bytes of one packet. */
export const maximumPacketBytes = 4 * 1024 * 1024

/** Data bytes of one frame sent. */
export const maximumFrameBytes = 64 * 1024

const maximumVarintBytes = 10

export interface Packet {
  readonly kind: Kind
  /** Counts the calls on one byte stream, from 1. */
  readonly streamId: number
  /** Counts the packets of one direction, from 1. */
  readonly messageId: number
  readonly data: Uint8Array
}

const lastFlag = 0x01
const controlFlag = 0x80

const varintLength = (value: number): number => {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1
  return length
}

const setVarint = (bytes: Uint8Array, offset: number, value: number): number => {
  let at = offset
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80
  bytes[at++] = rest
  return at
}

/** The packet's frames, one after the other. Cancel is sent with the control flag. */
export const encode = ({ kind, streamId, messageId, data }: Packet): Uint8Array => {
  const frames = Math.max(1, Math.ceil(data.length / maximumFrameBytes))
  const ids = varintLength(streamId) + varintLength(messageId)
  const bytes = new Uint8Array(frames * (1 + ids + varintLength(Math.min(data.length, maximumFrameBytes))) + data.length)
  const control = (kind << 1) | (kind === Kind.Cancel ? controlFlag : 0)
  let at = 0
  for (let frame = 0; frame < frames; frame++) {
    const part = data.subarray(frame * maximumFrameBytes, (frame + 1) * maximumFrameBytes)
    bytes[at++] = frame === frames - 1 ? control | lastFlag : control
    at = setVarint(bytes, at, streamId)
    at = setVarint(bytes, at, messageId)
    at = setVarint(bytes, at, part.length)
    bytes.set(part, at)
    at += part.length
  }
  // A shorter last part may need a shorter length.
  return bytes.subarray(0, at)
}

/** Bytes that break the protocol; after it nothing more is found. */
export interface Violation {
  readonly kind: "Violation"
  readonly message: string
}

const isKind = (value: number): value is Kind => value >= Kind.Invoke && value <= Kind.InvokeMetadata

/**
 * Finds packets in bytes chunked anyhow, one direction of one byte stream. Ids never decrease; a new id discards an unfinished packet; unknown kinds
 * are skipped when they carry the control flag. It holds no more than the unfinished packet, as far as it arrived.
 */
export class Decoder {
  private readonly buffer = new ByteBuffer()
  private broken = false
  /** Which part of the frame comes next: 0 control byte, 1 stream id, 2 message id, 3 length, 4 data. */
  private part = 0
  private control = 0
  private readonly numbers = [0, 0, 0]
  private varint = 0
  private varintBytes = 0
  private remaining = 0
  private streamId = 0
  private messageId = 0
  /** Kind of the packet with the current ids, while it is unfinished. */
  private unfinished: number | undefined = undefined

  /** Bytes of the unfinished packet. */
  get held(): number {
    return this.buffer.size
  }

  /** The packets that `chunk` completes; their data may share its memory. */
  decode(chunk: Uint8Array): ReadonlyArray<Packet | Violation> {
    const found: Array<Packet | Violation> = []
    let offset = 0
    while (offset < chunk.length && !this.broken) {
      if (this.part < 4) {
        this.header(chunk[offset++] ?? 0, found)
      } else {
        const data = chunk.subarray(offset, offset + this.remaining)
        offset += data.length
        this.remaining -= data.length
        this.receive(data, found)
      }
    }
    return found
  }

  private violate(message: string, found: Array<Packet | Violation>): void {
    this.broken = true
    this.buffer.take()
    found.push({ kind: "Violation", message })
  }

  private header(byte: number, found: Array<Packet | Violation>): void {
    if (this.part === 0) {
      this.control = byte
      this.part = 1
      return
    }
    this.varint += (byte & 0x7f) * 2 ** (7 * this.varintBytes)
    this.varintBytes += 1
    if (this.varint > Number.MAX_SAFE_INTEGER) return this.violate("a number is too large", found)
    if (byte >= 0x80) {
      if (this.varintBytes === maximumVarintBytes) this.violate("a number is too long", found)
      return
    }
    this.numbers[this.part - 1] = this.varint
    this.varint = 0
    this.varintBytes = 0
    this.part += 1
    if (this.part === 4) this.frame(found)
  }

  /** A frame's header is complete. */
  private frame(found: Array<Packet | Violation>): void {
    const [streamId = 0, messageId = 0, length = 0] = this.numbers
    const kind = this.kind
    if (streamId === 0 || messageId === 0) return this.violate("ids start at 1", found)
    const newer = streamId > this.streamId || (streamId === this.streamId && messageId > this.messageId)
    if (!newer && (streamId < this.streamId || messageId < this.messageId)) return this.violate("ids decrease", found)
    if (newer) {
      this.buffer.take()
      this.unfinished = undefined
      this.streamId = streamId
      this.messageId = messageId
    }
    if (this.unfinished !== undefined && this.unfinished !== kind) return this.violate("a packet changes its kind", found)
    if (!isKind(kind) && this.control < controlFlag) return this.violate(`unknown kind ${kind}`, found)
    if (this.buffer.size + length > maximumPacketBytes) return this.violate(`a packet is larger than ${maximumPacketBytes} bytes`, found)
    this.remaining = length
    this.unfinished = kind
    if (length === 0) this.receive(new Uint8Array(0), found)
  }

  private get kind(): number {
    return (this.control & 0x7e) >> 1
  }

  private receive(data: Uint8Array, found: Array<Packet | Violation>): void {
    const kind = this.kind
    const complete = this.remaining === 0
    const last = complete && (this.control & lastFlag) !== 0
    if (complete) this.part = 0
    if (last) this.unfinished = undefined
    if (!isKind(kind)) return
    if (!last || this.buffer.size > 0) this.buffer.append(data)
    if (!last) return
    const whole = this.buffer.size > 0 ? this.buffer.take() : data
    found.push({ kind, streamId: this.streamId, messageId: this.messageId, data: whole })
  }
}
