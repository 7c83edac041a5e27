/** The SSH File Transfer Protocol, version 3, as OpenSSH speaks it (draft-ietf-secsh-filexfer-02). */

export const Type = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  readlink: 19,
  symlink: 20,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attrs: 105,
  extended: 200,
  extendedReply: 201
} as const

export const Status = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8
} as const

/** Bytes of a packet, as OpenSSH bounds them, and of the data of one read or write. */
export const maximumPacket = 256 * 1024
export const maximumData = maximumPacket - 1024

/** The client breaks the protocol. */
export class Malformed extends Error {}

/** Reads the fields of a request. */
export class Reader {
  private at = 0

  constructor(private readonly bytes: Buffer) {}

  get rest(): number {
    return this.bytes.length - this.at
  }

  private take(size: number): number {
    if (this.rest < size) throw new Malformed("a field is missing")
    this.at += size
    return this.at - size
  }

  byte(): number {
    return this.bytes.readUInt8(this.take(1))
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.take(4))
  }

  /** A number of 64 bits, as far as offsets of files go. */
  uint64(): number {
    const value = this.bytes.readBigUInt64BE(this.take(8))
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed("an offset is too large")
    return Number(value)
  }

  string(): Buffer {
    const size = this.uint32()
    const from = this.take(size)
    return this.bytes.subarray(from, from + size)
  }
}

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

export const uint64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)))
  return bytes
}

export const string = (value: Buffer | string): Buffer => {
  const bytes = typeof value === "string" ? Buffer.from(value) : value
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** A packet with its length before it. */
export const packet = (type: number, ...fields: ReadonlyArray<Buffer>): Buffer => {
  const size = fields.reduce((sum, { length }) => sum + length, 1)
  return Buffer.concat([uint32(size), Buffer.of(type), ...fields], 4 + size)
}

/** Cuts a stream of bytes into packets. */
export class Packets {
  private parts: Array<Buffer> = []
  private size = 0

  add(bytes: Buffer): void {
    this.parts.push(bytes)
    this.size += bytes.length
  }

  /** The next packet without its length; undefined while bytes are missing. */
  next(): Buffer | undefined {
    if (this.size < 4) return undefined
    const length = this.length()
    if (length < 1 || length > maximumPacket) throw new Malformed(`a packet has ${length} bytes`)
    if (this.size < 4 + length) return undefined
    return this.take(4 + length).subarray(4)
  }

  private length(): number {
    if ((this.parts[0]?.length ?? 0) < 4) this.parts = [Buffer.concat(this.parts)]
    return this.parts[0]?.readUInt32BE(0) ?? 0
  }

  private take(size: number): Buffer {
    const taken: Array<Buffer> = []
    let missing = size
    let used = 0
    for (const part of this.parts) {
      if (missing === 0) break
      if (part.length > missing) {
        taken.push(part.subarray(0, missing))
        this.parts[used] = part.subarray(missing)
        missing = 0
      } else {
        taken.push(part)
        missing -= part.length
        used += 1
      }
    }
    this.parts.splice(0, used)
    this.size -= size
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken, size)
  }
}
