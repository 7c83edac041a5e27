/** Archives in the format of tar, as the service keeps sources: read and written in the browser. */

const block = 512
const maximumEntries = 20_000

/** A regular file of a source. */
export interface SourceFile {
  readonly content: Uint8Array
  /** The bits of its permissions. */
  readonly mode: number
}

/** What of an archive is no file, such as a link or an empty folder. */
export interface Entry {
  readonly path: string
  readonly kind: "folder" | "hard link" | "other"
  /** Its headers and its content, as they were read. */
  readonly bytes: Uint8Array
}

/** The files of a source by path, and what of its archive is no file. */
export interface Source {
  readonly files: ReadonlyMap<string, SourceFile>
  /** Entries that this module does not change. */
  readonly others: ReadonlyArray<Entry>
}

/** Why bytes are no archive. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError"
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

const textAt = (header: Uint8Array, from: number, length: number): string => {
  const field = header.subarray(from, from + length)
  const end = field.indexOf(0)
  return decoder.decode(end === -1 ? field : field.subarray(0, end))
}

const numberAt = (header: Uint8Array, from: number, length: number): number => {
  // Large numbers are written in base 256, which the first bit says
  if (((header[from] ?? 0) & 0x80) !== 0)
    return header.subarray(from + 1, from + length).reduce((value, byte) => value * 256 + byte, (header[from] ?? 0) & 0x7f)
  const text = textAt(header, from, length).trim()
  const value = text === "" ? 0 : Number.parseInt(text, 8)
  if (Number.isNaN(value)) throw new ArchiveError("A header of the archive has no number where one belongs.")
  return value
}

/** The records of an extended header: `length key=value\n`. */
const recordsOf = (content: Uint8Array): ReadonlyMap<string, string> => {
  const records = new Map<string, string>()
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at)
    const length = space === -1 ? Number.NaN : Number(decoder.decode(content.subarray(at, space)))
    if (!(length > 0)) break
    const text = decoder.decode(content.subarray(space + 1, at + length - 1))
    const equals = text.indexOf("=")
    records.set(text.slice(0, equals), text.slice(equals + 1))
    at += length
  }
  return records
}

/** What the types of entries stand for. */
const kinds: Readonly<Record<string, Entry["kind"]>> = { "1": "hard link", "5": "folder" }

const isEnd = (header: Uint8Array): boolean => header.every((byte) => byte === 0)

/** A path without `./` at its start and a slash at its end. */
export const plainPath = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")

/** Reads an archive. Throws `ArchiveError` for bytes that are no archive. */
export const readArchive = (bytes: Uint8Array): Source => {
  const files = new Map<string, SourceFile>()
  const others: Array<Entry> = []
  let extended: ReadonlyMap<string, string> = new Map()
  let longName: string | undefined
  /** Where the headers of the next entry begin. */
  let begin = 0
  let count = 0
  for (let at = 0; at + block <= bytes.length;) {
    const header = bytes.subarray(at, at + block)
    if (isEnd(header)) break
    count += 1
    if (count > maximumEntries) throw new ArchiveError("The archive has too many files.")
    const type = String.fromCharCode(header[156] ?? 0)
    const size = Number(extended.get("size") ?? numberAt(header, 124, 12))
    if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveError("A header of the archive has no length where one belongs.")
    const next = at + block + Math.ceil(size / block) * block
    if (at + block + size > bytes.length) throw new ArchiveError("The archive ends within a file.")
    const content = bytes.subarray(at + block, at + block + size)
    at = next
    if (type === "x" || type === "g") {
      if (type === "x") extended = recordsOf(content)
      else {
        // Holds for all that follow, which are written anew
        begin = next
      }
      continue
    }
    if (type === "L") {
      longName = textAt(content, 0, content.length)
      continue
    }
    const isUstar = textAt(header, 257, 5) === "ustar"
    const prefix = isUstar ? textAt(header, 345, 155) : ""
    const path = plainPath(extended.get("path") ?? longName ?? `${prefix === "" ? "" : `${prefix}/`}${textAt(header, 0, 100)}`)
    if ((type === "0" || type === "\0") && path !== "") files.set(path, { content, mode: numberAt(header, 100, 8) & 0o7777 })
    else if (type !== "0" && type !== "\0") others.push({ path, kind: kinds[type] ?? "other", bytes: bytes.subarray(begin, next) })
    extended = new Map()
    longName = undefined
    begin = next
  }
  return { files, others }
}

const octal = (header: Uint8Array, from: number, length: number, value: number): void => {
  header.set(encoder.encode(`${value.toString(8).padStart(length - 1, "0")}\0`), from)
}

const headerOf = (name: Uint8Array, size: number, mode: number, type: string): Uint8Array => {
  const header = new Uint8Array(block)
  header.set(name.subarray(0, 100))
  octal(header, 100, 8, mode)
  octal(header, 108, 8, 1000)
  octal(header, 116, 8, 1000)
  octal(header, 124, 12, size)
  // The same files are the same bytes, which the service keeps once
  octal(header, 136, 12, 0)
  header.fill(32, 148, 156)
  header.set(encoder.encode(type), 156)
  header.set(encoder.encode("ustar\0"), 257)
  header.set(encoder.encode("00"), 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.set(encoder.encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148)
  return header
}

/** `length key=value\n`, whose length counts its own digits. */
const record = (key: string, value: string): Uint8Array => {
  const rest = encoder.encode(` ${key}=${value}\n`)
  let length = rest.length
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return encoder.encode(`${length} ${key}=${value}\n`)
}

const padded = (content: Uint8Array): ReadonlyArray<Uint8Array> => {
  const rest = content.length % block
  return rest === 0 ? [content] : [content, new Uint8Array(block - rest)]
}

/** Writes an archive. */
export const writeArchive = ({ files, others }: Source): Uint8Array<ArrayBuffer> => {
  const isLast = ({ kind }: Entry): boolean => kind === "hard link"
  const parts: Array<Uint8Array> = others.filter((entry) => !isLast(entry)).map(({ bytes }) => bytes)
  for (const [path, { content, mode }] of [...files].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const name = encoder.encode(path)
    if (name.length > 100) {
      const extended = record("path", path)
      parts.push(headerOf(encoder.encode("path"), extended.length, 0o644, "x"), ...padded(extended))
    }
    parts.push(headerOf(name, content.length, mode === 0 ? 0o644 : mode, "0"), ...padded(content))
  }
  // A hard link is of a file that was unpacked before it
  parts.push(...others.filter(isLast).map(({ bytes }) => bytes), new Uint8Array(2 * block))
  const bytes = new Uint8Array(parts.reduce((total, { length }) => total + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const sniffed = 8_000

/** The text of a file; undefined for one that is no text of UTF-8. */
export const textOf = (content: Uint8Array): string | undefined => {
  if (content.subarray(0, sniffed).includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Why a path cannot name a file of a source; undefined if it can. */
export const pathProblem = (
  path: string,
  files: ReadonlyMap<string, unknown>,
  others: ReadonlyArray<Entry>
): "empty" | "outside" | "taken" | "folder" | undefined => {
  if (plainPath(path) === "") return "empty"
  if (path.startsWith("/") || path.split("/").includes("..") || path.includes("\0")) return "outside"
  const plain = plainPath(path)
  if (files.has(plain)) return "taken"
  const parts = plain.split("/")
  const above = new Set(parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/")))
  const isInTheWay = (each: string): boolean => each === plain || each.startsWith(`${plain}/`)
  if ([...above].some((each) => files.has(each)) || [...files.keys()].some(isInTheWay)) return "folder"
  // No file is written through a link
  return others.some(({ kind, path }) => isInTheWay(path) || (kind !== "folder" && above.has(path))) ? "folder" : undefined
}
