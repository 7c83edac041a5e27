/** An archive that the user chose as the source of a new template. */
import { ArchiveError, readArchive, type SourceFile, writeArchive } from "./archive.js"
import { inflated } from "./inflate.js"
import { entriesOfZip, fileOfZip } from "./zip.js"

export interface Uploaded {
  /** The name of the archive without its ending, as a template's name can be. */
  readonly name: string
  readonly contentType: "application/x-tar" | "application/zip"
  readonly bytes: Uint8Array<ArrayBuffer>
  /** What its files are written for. */
  readonly provisioner: "terraform" | "echo"
}

/** Bytes of the largest archive that the service takes, and of the most that is unpacked here. */
export const maximumArchive = 100 * 1024 * 1024

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
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** What macOS puts beside the files of its archives. */
const isOfMac = (path: string): boolean => path.startsWith("__MACOSX/")

const partsOf = (path: string): ReadonlyArray<string> => path.split("/").filter((part) => part !== "" && part !== ".")

/** The one folder that holds all these files, as in archives of a folder or a repository; undefined without such a folder. */
const topOf = (files: ReadonlyArray<string>): string | undefined => {
  const tops = new Set(files.map((path) => (partsOf(path).length > 1 ? partsOf(path)[0] : undefined)))
  const [top] = tops
  return tops.size === 1 ? top : undefined
}

/** A path below the one folder. Paths that leave the archive are refused. */
const belowTop = (path: string): string => {
  const parts = partsOf(path)
  if (parts.includes("..") || path.startsWith("/")) throw new ArchiveError("The archive has a file outside of its folder.")
  return parts.slice(1).join("/")
}

const tarOf = (files: ReadonlyMap<string, SourceFile>): Uint8Array<ArrayBuffer> => writeArchive({ files, others: [] })

/** The files of an archive, and its bytes as the service takes them: those of one folder are taken out of it. */
interface Taken extends Pick<Uploaded, "bytes" | "contentType"> {
  readonly names: ReadonlyArray<string>
}

const linksInFolder = (): ArchiveError =>
  new ArchiveError("The archive has links, and all of it is in one folder. Pack what is in the folder, without the folder.")

const takenTar = (bytes: Uint8Array<ArrayBuffer>): Taken => {
  const { files, others } = readArchive(bytes)
  const names = [...files.keys()].filter((path) => !isOfMac(path))
  if (topOf(names) === undefined) return { names, bytes, contentType: "application/x-tar" }
  if (others.some(({ kind }) => kind !== "folder")) throw linksInFolder()
  const moved = new Map(names.map((path) => [belowTop(path), files.get(path) ?? { content: new Uint8Array(), mode: 0 }] as const))
  return { names: [...moved.keys()], bytes: tarOf(moved), contentType: "application/x-tar" }
}

const takenZip = async (bytes: Uint8Array<ArrayBuffer>): Promise<Taken> => {
  const entries = entriesOfZip(bytes).filter(({ path }) => !path.endsWith("/") && !isOfMac(path))
  const names = entries.map(({ path }) => path)
  if (topOf(names) === undefined) return { names, bytes, contentType: "application/zip" }
  if (entries.some(({ isLink }) => isLink)) throw linksInFolder()
  const files = new Map<string, SourceFile>()
  let left = maximumArchive
  for (const entry of entries) {
    const file = await fileOfZip(bytes, entry, left)
    left -= file.content.length
    files.set(belowTop(entry.path), file)
  }
  return { names: [...files.keys()], bytes: tarOf(files), contentType: "application/x-tar" }
}

/** Reads an archive, which may be a zip, a tar, or a tar that gzip has compressed. @throws ArchiveError */
export const readUploaded = async (fileName: string, given: Uint8Array<ArrayBuffer>): Promise<Uploaded> => {
  const bytes = isGzip(given) ? await inflated(given, "gzip", maximumArchive) : given
  const zip = isZip(bytes)
  if (!zip && !isTar(bytes)) throw new ArchiveError("The file is neither a zip, nor a tar, nor a tar compressed by gzip.")
  const { names, ...taken } = zip ? await takenZip(bytes) : takenTar(bytes)
  if (names.length === 0) throw new ArchiveError("The archive holds no file.")
  return {
    ...taken,
    name: fileName
      .replace(/\.(?:tar|zip|tar\.gz|tgz)$/i, "")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 32)
      .replace(/-$/, ""),
    provisioner: names.some((name) => /^(?:\.\/)?[^/]+\.tf(?:\.json)?$/.test(name)) ? "terraform" : "echo"
  }
}
