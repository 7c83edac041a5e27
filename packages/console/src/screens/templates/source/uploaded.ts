/** An archive that the user chose as the source of a new template. */
import { ArchiveError, readArchive } from "./archive.js"

export interface Uploaded {
  /** The name of the archive without its ending, as a template's name can be. */
  readonly name: string
  readonly contentType: "application/x-tar" | "application/zip"
  readonly bytes: Uint8Array<ArrayBuffer>
  /** What its files are written for. */
  readonly provisioner: "terraform" | "echo"
}

/** Bytes of the largest archive that the service takes. */
export const maximumArchive = 100 * 1024 * 1024

const zipEnd = 0x06054b50
const zipEntry = 0x02014b50

/** The names of a zip, from its central directory. APPNOTE.TXT §4.3.12 and §4.3.16. */
const namesOfZip = (bytes: Uint8Array): ReadonlyArray<string> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  // A comment of at most 65,535 bytes may follow
  const first = Math.max(0, end - 65_535)
  while (end >= first && view.getUint32(end, true) !== zipEnd) end -= 1
  if (end < first) throw new ArchiveError("The archive has no list of its files.")
  const count = view.getUint16(end + 10, true)
  const names: Array<string> = []
  for (let at = view.getUint32(end + 16, true), index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== zipEntry) throw new ArchiveError("The list of the archive's files is cut.")
    const length = view.getUint16(at + 28, true)
    names.push(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + length)))
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return names
}

/** Bytes of a header of a tar, and where its checksum is. */
const header = 512
const checksum = { from: 148, to: 156 } as const

/** Whether the first header has the sum of its bytes, with spaces in the place of the sum. */
const isTar = (bytes: Uint8Array): boolean => {
  if (bytes.length < header) return false
  const written = Number.parseInt(new TextDecoder().decode(bytes.subarray(checksum.from, checksum.to)), 8)
  const sum = bytes
    .subarray(0, header)
    .reduce((total, byte, index) => total + (index >= checksum.from && index < checksum.to ? 32 : byte), 0)
  return sum === written
}

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b

/** Reads an archive, which may be a tar or a zip. @throws ArchiveError */
export const readUploaded = (fileName: string, bytes: Uint8Array<ArrayBuffer>): Uploaded => {
  const zip = isZip(bytes)
  if (!zip && !isTar(bytes))
    throw new ArchiveError("The file is neither a tar nor a zip. A compressed tar, such as a .tar.gz, is not taken.")
  const names = zip ? namesOfZip(bytes) : [...readArchive(bytes).files.keys()]
  if (names.length === 0) throw new ArchiveError("The archive holds no file.")
  return {
    name: fileName
      .replace(/\.(?:tar|zip)$/i, "")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 32)
      .replace(/-$/, ""),
    contentType: zip ? "application/zip" : "application/x-tar",
    bytes,
    provisioner: names.some((name) => /^(?:\.\/)?[^/]+\.tf(?:\.json)?$/.test(name)) ? "terraform" : "echo"
  }
}
