/** Writes zip archives while their entries are read (APPNOTE.TXT 6.3.10): sizes and checksums follow each entry's content. */
import { crc32, createDeflateRaw } from "node:zlib"

export interface ZipEntry {
  /** Relative and `/`-separated, without a slash behind a folder's. */
  readonly path: string
  readonly isFolder: boolean
  /** Permission bits. */
  readonly mode: number
  readonly modified: Date
  /** Bytes; `resume` passes over them. */
  readonly content: AsyncIterable<unknown> & { readonly resume: () => unknown }
}

/** Sizes and checksum come behind the content (bit 3); names are UTF-8 (bit 11). */
const flags = 0x0808
const deflated = 8
/** 2.0: folders and deflate. */
const versionNeeded = 20
/** Made on Unix, whose permissions the central directory holds. */
const versionMadeBy = (3 << 8) | versionNeeded
const unixFile = 0o100000
const unixFolder = 0o040000

/** Entries that the plain end of an archive can count. */
const maximumPlainEntries = 0xffff

interface Written {
  readonly name: Buffer
  readonly entry: ZipEntry
  readonly offset: number
  readonly checksum: number
  readonly compressed: number
  readonly size: number
}

/** The bytes of an archive, entry by entry. */
export const writeZip = async function* (entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const written: Array<Written> = []
  let offset = 0
  for await (const entry of entries) {
    const name = Buffer.from(entry.isFolder ? `${entry.path}/` : entry.path, "utf8")
    const header = localHeader(entry, name)
    const start = offset
    offset += header.length + name.length
    yield header
    yield name
    let checksum = 0
    let size = 0
    let compressed = 0
    if (entry.isFolder) entry.content.resume()
    else {
      const counted = async function* () {
        for await (const chunk of entry.content) {
          if (!(chunk instanceof Buffer)) continue
          checksum = crc32(chunk, checksum)
          size += chunk.length
          yield chunk
        }
      }
      for await (const chunk of deflate(counted())) {
        compressed += chunk.length
        yield chunk
      }
      const descriptor = dataDescriptor(checksum, compressed, size)
      offset += compressed + descriptor.length
      yield descriptor
    }
    written.push({ name, entry, offset: start, checksum, compressed, size })
  }
  const directoryStart = offset
  for (const entry of written) {
    const header = centralHeader(entry)
    offset += header.length + entry.name.length
    yield header
    yield entry.name
  }
  yield end(written.length, directoryStart, offset - directoryStart)
}

const deflate = async function* (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compressor = createDeflateRaw()
  const feeding = (async () => {
    for await (const chunk of content) {
      if (!compressor.write(chunk)) await new Promise((resolve) => compressor.once("drain", resolve))
    }
    compressor.end()
  })().catch((error: unknown) => compressor.destroy(error instanceof Error ? error : new Error(String(error))))
  try {
    for await (const chunk of compressor) if (chunk instanceof Buffer) yield chunk
    await feeding
  } finally {
    compressor.destroy()
  }
}

/** Two seconds' resolution, from 1980 on. */
const dosTime = (at: Date): { readonly time: number; readonly date: number } => {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107)
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  }
}

const methodOf = ({ isFolder }: ZipEntry): number => (isFolder ? 0 : deflated)

const flagsOf = ({ isFolder }: ZipEntry): number => (isFolder ? flags & ~0x0008 : flags)

/** The header before an entry's content. APPNOTE §4.3.7. */
const localHeader = (entry: ZipEntry, name: Buffer): Buffer => {
  const { date, time } = dosTime(entry.modified)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(versionNeeded, 4)
  header.writeUInt16LE(flagsOf(entry), 6)
  header.writeUInt16LE(methodOf(entry), 8)
  header.writeUInt16LE(time, 10)
  header.writeUInt16LE(date, 12)
  header.writeUInt16LE(name.length, 26)
  return header
}

/** The checksum and sizes behind an entry's content. APPNOTE §4.3.9. */
const dataDescriptor = (checksum: number, compressed: number, size: number): Buffer => {
  const descriptor = Buffer.alloc(16)
  descriptor.writeUInt32LE(0x08074b50, 0)
  descriptor.writeUInt32LE(checksum, 4)
  descriptor.writeUInt32LE(compressed, 8)
  descriptor.writeUInt32LE(size, 12)
  return descriptor
}

/** An entry of the central directory. APPNOTE §4.3.12. */
const centralHeader = ({ checksum, compressed, entry, name, offset, size }: Written): Buffer => {
  const { date, time } = dosTime(entry.modified)
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(versionMadeBy, 4)
  header.writeUInt16LE(versionNeeded, 6)
  header.writeUInt16LE(flagsOf(entry), 8)
  header.writeUInt16LE(methodOf(entry), 10)
  header.writeUInt16LE(time, 12)
  header.writeUInt16LE(date, 14)
  header.writeUInt32LE(checksum, 16)
  header.writeUInt32LE(compressed, 20)
  header.writeUInt32LE(size, 24)
  header.writeUInt16LE(name.length, 28)
  const type = entry.isFolder ? unixFolder : unixFile
  header.writeUInt32LE(((type | (entry.mode & 0o7777)) << 16) >>> 0, 38)
  header.writeUInt32LE(offset, 42)
  return header
}

/** The end of the archive, also in the form for large archives. APPNOTE §4.3.14 – §4.3.16. */
const end = (entries: number, start: number, length: number): Buffer => {
  const isLong = entries > maximumPlainEntries
  const plain = Buffer.alloc(22)
  plain.writeUInt32LE(0x06054b50, 0)
  plain.writeUInt16LE(Math.min(entries, maximumPlainEntries), 8)
  plain.writeUInt16LE(Math.min(entries, maximumPlainEntries), 10)
  plain.writeUInt32LE(length, 12)
  plain.writeUInt32LE(start, 16)
  if (!isLong) return plain
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(versionMadeBy, 12)
  record.writeUInt16LE(45, 14)
  record.writeBigUInt64LE(BigInt(entries), 24)
  record.writeBigUInt64LE(BigInt(entries), 32)
  record.writeBigUInt64LE(BigInt(length), 40)
  record.writeBigUInt64LE(BigInt(start), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(start + length), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([record, locator, plain])
}
