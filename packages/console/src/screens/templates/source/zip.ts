/** Archives in the format of zip, read in the browser. APPNOTE.TXT §4.3 has the format. */
import { ArchiveError, type SourceFile } from "./archive.js"
import { inflated } from "./inflate.js"

const end = 0x06054b50
const entry = 0x02014b50
const local = 0x04034b50

/** The type of a symbolic link on Unix, in the attributes of an entry. */
const linkType = 0o12

export interface ZipEntry {
  readonly path: string
  /** 0 for stored, 8 for deflated bytes. */
  readonly method: number
  readonly isEncrypted: boolean
  readonly isLink: boolean
  /** Bytes of the content as the archive holds it. */
  readonly length: number
  /** Where the entry's own header is. */
  readonly at: number
  /** The bits of its permissions; 0 where a system without them wrote the archive. */
  readonly mode: number
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The entries of a zip, from its central directory. @throws ArchiveError */
export const entriesOfZip = (bytes: Uint8Array): ReadonlyArray<ZipEntry> => {
  const view = viewOf(bytes)
  let last = bytes.length - 22
  // A comment of at most 65,535 bytes may follow
  const first = Math.max(0, last - 65_535)
  while (last >= first && view.getUint32(last, true) !== end) last -= 1
  if (last < first) throw new ArchiveError("The archive has no list of its files.")
  const count = view.getUint16(last + 10, true)
  const entries: Array<ZipEntry> = []
  for (let at = view.getUint32(last + 16, true), index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== entry) throw new ArchiveError("The list of the archive's files is cut.")
    const length = view.getUint16(at + 28, true)
    entries.push({
      path: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + length)),
      method: view.getUint16(at + 10, true),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      length: view.getUint32(at + 20, true),
      at: view.getUint32(at + 42, true),
      isLink: view.getUint32(at + 38, true) >>> 28 === linkType,
      mode: (view.getUint32(at + 38, true) >>> 16) & 0o777
    })
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The file of an entry, of at most so many bytes. @throws ArchiveError */
export const fileOfZip = async (
  bytes: Uint8Array<ArrayBuffer>,
  { at, isEncrypted, length, method, mode }: ZipEntry,
  most: number
): Promise<SourceFile> => {
  const view = viewOf(bytes)
  if (at + 30 > bytes.length || view.getUint32(at, true) !== local) throw new ArchiveError("The archive ends within a file.")
  const from = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
  if (from + length > bytes.length) throw new ArchiveError("The archive ends within a file.")
  if (isEncrypted || (method !== 0 && method !== 8))
    throw new ArchiveError("The archive is encrypted, or compressed in a way that is not supported.")
  const content = bytes.slice(from, from + length)
  if (method === 8) return { mode, content: await inflated(content, "deflate-raw", most) }
  if (length > most) throw new ArchiveError("The archive is too large when it is unpacked.")
  return { mode, content }
}
