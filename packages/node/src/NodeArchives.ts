/** Archives on Node's zlib, with `yauzl` for zip and `tar-stream` for tar. templates-and-provisioning.md §1. */
import { Archives, type SourceFiles } from "@atelier/core/provisioning"
import { existing, Invalid, TooLarge } from "@atelier/core/platform"
import { Effect, Stream } from "effect"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import { crc32 } from "node:zlib"
import { extract, pack } from "tar-stream"
import { type Entry, fromBufferPromise } from "yauzl"
import { writeZip } from "./ZipWriter.js"

/** Bytes of a tar's header, and what content is rounded up to. */
const block = 512
/** Bytes that end a tar. */
const ending = 1024
/** The owner of the files in a converted archive. */
const owner = { uid: 1000, gid: 1000 }

const unreadableZip = (cause: unknown): Invalid =>
  new Invalid({ message: "Unable to read the zip file.", detail: cause instanceof Error ? cause.message : String(cause) })

const unreadableTar = (cause: unknown): Invalid =>
  new Invalid({ message: "Unable to read the tar file.", detail: cause instanceof Error ? cause.message : String(cause) })

const tooLarge = (maximum: number): TooLarge =>
  new TooLarge({ message: "The file is too large when it is expanded.", detail: `The maximum is ${maximum} bytes.` })

const isFolder = (entry: Entry): boolean => entry.fileName.endsWith("/")

/** Only archives made on Unix say what may be done with a file. */
const modeOf = (entry: Entry): number => {
  const isFromUnix = entry.versionMadeBy >>> 8 === 3
  if (isFromUnix) return (entry.externalFileAttributes >>> 16) & 0o7777
  const isReadOnly = (entry.externalFileAttributes & 1) !== 0
  return isFolder(entry) ? 0o755 : isReadOnly ? 0o444 : 0o644
}

const collect = async (content: Readable, signal: AbortSignal): Promise<{ readonly bytes: Buffer; readonly checksum: number }> => {
  const chunks: Array<Buffer> = []
  let checksum = 0
  for await (const chunk of content) {
    signal.throwIfAborted()
    if (!(chunk instanceof Buffer)) continue
    chunks.push(chunk)
    checksum = crc32(chunk, checksum)
  }
  return { bytes: Buffer.concat(chunks), checksum }
}

const empty = { bytes: Buffer.alloc(0), checksum: 0 }

/** Entries that are read before others have their turn. */
const entriesPerTurn = 100

/** Goes through an archive's entries twice: what they say of their sizes is judged before anything is expanded. */
const convert = async (zip: Uint8Array, maximum: number, signal: AbortSignal): Promise<Buffer | TooLarge> => {
  const archive = await fromBufferPromise(Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength), { lazyEntries: true, autoClose: false })
  const entries: Array<Entry> = []
  let declared = ending
  for await (const entry of archive.eachEntry()) {
    declared += block + Math.ceil(entry.uncompressedSize / block) * block
    if (declared > maximum) return tooLarge(maximum)
    if (entries.push(entry) % entriesPerTurn === 0) await setImmediate()
  }

  const tar = pack()
  const chunks: Array<Buffer> = []
  let size = 0
  tar.on("data", (chunk) => {
    if (!(chunk instanceof Buffer)) return
    size += chunk.length
    if (size <= maximum) chunks.push(chunk)
  })
  const finished = new Promise<void>((resolve, reject) => tar.once("end", resolve).once("error", reject))
  for (const [index, entry] of entries.entries()) {
    if (index % entriesPerTurn === 0) await setImmediate()
    const { bytes, checksum } = isFolder(entry) ? empty : await collect(await archive.openReadStreamPromise(entry), signal)
    // The library compares sizes and leaves checksums to its users
    if (!isFolder(entry) && checksum !== entry.crc32) throw new Error(`the checksum of ${JSON.stringify(entry.fileName)} is wrong`)
    tar.entry(
      {
        ...owner,
        name: entry.fileName,
        type: isFolder(entry) ? "directory" : "file",
        size: bytes.length,
        mode: modeOf(entry),
        mtime: entry.getLastModDate({ timezone: "UTC" })
      },
      bytes
    )
    if (size > maximum) return tooLarge(maximum)
  }
  tar.finalize()
  await finished
  return size > maximum ? tooLarge(maximum) : Buffer.concat(chunks)
}

/** The path of an entry below the target directory; undefined if it leads elsewhere. */
const localPath = (name: string): string | undefined => {
  if (name.startsWith("/") || name.includes("\\") || name.includes("\0") || /^[a-zA-Z]:/.test(name)) return undefined
  const parts = name.split("/").filter((part) => part !== "" && part !== ".")
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/")
}

/** Reads a tar as it arrives. Links, devices and whatever leads out of the archive are passed over. */
const readTar = async function* (tar: AsyncIterable<Uint8Array>) {
  const reader = extract()
  const source = Readable.from(tar, { objectMode: false })
  source.once("error", (error) => reader.destroy(error))
  // Entries are lost if the reader is fed before it has a listener
  const iterator = reader[Symbol.asyncIterator]()
  source.pipe(reader)
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const entry = next.value
      const { mode = 0, mtime = new Date(0), name, type } = entry.header
      const path = localPath(name)
      if (path === undefined || (type !== "file" && type !== "directory")) entry.resume()
      else yield { path, isFolder: type === "directory", mode, modified: mtime, content: entry }
    }
  } finally {
    source.destroy()
    reader.destroy()
  }
}

/** Bytes that are kept of a file at the root, for the choice of its engine. */
const keptOfFile = 64 * 1024
/** Files at the root that are kept. */
const keptFiles = 100

/** The first bytes of a file, which is read to its end. */
const beginningOf = async (content: AsyncIterable<unknown>): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of content) {
    if (!(chunk instanceof Buffer)) continue
    if (size < keptOfFile) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, keptOfFile)
}

const outlineOf = async (tar: AsyncIterable<Uint8Array>): Promise<SourceFiles> => {
  const paths: Array<string> = []
  const kept = new Map<string, Buffer>()
  for await (const { content, isFolder, path } of readTar(tar)) {
    if (!isFolder) paths.push(path)
    if (isFolder || path.includes("/") || kept.size >= keptFiles) content.resume()
    else kept.set(path, await beginningOf(content))
  }
  return { paths, text: (path) => kept.get(path)?.toString("utf8") }
}

const readWhole = async (tar: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const { content } of readTar(tar)) content.resume()
}

/** Bytes that are read before others have their turn: the headers of 128 entries. */
const pieceSize = 64 * 1024

const piecesOf = async function* (bytes: Uint8Array) {
  for (let start = 0; start < bytes.length; start += pieceSize) {
    yield bytes.subarray(start, start + pieceSize)
    await setImmediate()
  }
}

export const layer = existing(Archives, {
  tarFromZip: (zip, maximum) =>
    Effect.tryPromise({ try: (signal) => convert(zip, maximum, signal), catch: unreadableZip }).pipe(
      Effect.flatMap((result) => (result instanceof TooLarge ? result : Effect.succeed(result)))
    ),
  zipFromTar: (tar) => Stream.fromAsyncIterable(writeZip(readTar(Stream.toAsyncIterable(tar))), unreadableTar),
  checkTar: (tar) => Effect.tryPromise({ try: () => readWhole(Stream.toAsyncIterable(tar)), catch: unreadableTar }),
  tarOf: (files) =>
    Effect.promise(() => {
      const tar = pack()
      const byPath = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))
      for (const [name, text] of byPath) tar.entry({ name, mode: 0o644, mtime: new Date(0) }, text)
      tar.finalize()
      return buffer(tar)
    }),
  outline: (tar) => Effect.tryPromise({ try: () => outlineOf(piecesOf(tar)), catch: unreadableTar })
})
