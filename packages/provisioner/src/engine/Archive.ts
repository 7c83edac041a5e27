/**
 * Reads a template's source, a tar, without trusting it. Only folders and regular files exist for the reader; links and devices are
 * passed over, so nothing in an archive can point out of it. templates-and-provisioning.md §1.
 */
import { Data, Effect, Either, Stream } from "effect"
import { Readable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { type Extract, extract } from "tar-stream"
import { localPath } from "./LocalPath.js"

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never

/** Bytes of one file. */
export const maximumFileSize = 10 * 1024 * 1024
/** Bytes of the whole archive, and of all its files together. */
export const maximumArchiveSize = 100 * 1024 * 1024
/** Entries of any kind, those passed over included. */
export const maximumEntries = 10_000

/** The archive is not a tar, or breaks a bound; `path` is the entry's, where the fault is in one. */
export class ArchiveError extends Data.TaggedError("ArchiveError")<{ readonly cause: string; readonly path?: string | undefined }> {
  override get message(): string {
    return this.path === undefined ? `archive: ${this.cause}` : `archive: ${JSON.stringify(this.path)} ${this.cause}`
  }
}

/** A regular file or folder. `path` is relative and `/`-separated, without `.` and `..`; `mode` holds permission bits alone. */
export interface ArchiveEntry {
  readonly type: "file" | "directory"
  readonly path: string
  readonly mode: number
  readonly bytes: Uint8Array
}

const nothing = new Uint8Array(0)

/** Archives made by careless tools carry mode 0, which would make the files unreadable. */
const permissions = (mode: number): number => ((mode & 0o777) === 0 ? 0o600 : mode & 0o777)

const content = (entry: Entry, path: string): Effect.Effect<Uint8Array, ArchiveError> =>
  Effect.tryPromise({
    try: async () => {
      const chunks: Array<Uint8Array> = []
      for await (const chunk of entry) if (chunk instanceof Uint8Array) chunks.push(chunk)
      return new Uint8Array(Buffer.concat(chunks))
    },
    catch: () => new ArchiveError({ cause: "is cut short", path })
  })

const passOver = (entry: Entry): Effect.Effect<undefined> => Effect.sync(() => void entry.resume())

const toEntry = (entry: Entry): Effect.Effect<ArchiveEntry | undefined, ArchiveError> =>
  Effect.gen(function* () {
    const { mode, name, size, type } = entry.header
    const path = yield* Either.mapLeft(localPath(name), (cause) => new ArchiveError({ cause, path: name }))
    if (path === "" || (type !== "file" && type !== "directory")) return yield* passOver(entry)
    if (type === "directory") {
      yield* passOver(entry)
      return { type, path, mode: permissions(mode), bytes: nothing }
    }
    if (size > maximumFileSize) return yield* new ArchiveError({ cause: `is larger than ${maximumFileSize} bytes`, path })
    return { type, path, mode: permissions(mode), bytes: yield* content(entry, path) }
  })

/** Bytes that are read before others have their turn: the headers of 128 entries. */
const pieceSize = 64 * 1024

const piecesOf = async function* (tar: Uint8Array) {
  for (let start = 0; start < tar.byteLength; start += pieceSize) {
    yield Buffer.from(tar.buffer, tar.byteOffset + start, Math.min(pieceSize, tar.byteLength - start))
    await setImmediate()
  }
}

const unpacked = async function* (tar: Uint8Array): AsyncGenerator<Entry> {
  const reader = extract()
  const source = Readable.from(piecesOf(tar), { objectMode: false })
  // Entries are lost when the reader is fed before its iterator exists
  const iterator = reader[Symbol.asyncIterator]()
  source.pipe(reader)
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  } finally {
    source.destroy()
    reader.destroy()
  }
}

/** The archive's folders and files in its order, one in memory at a time. */
export const entries = (tar: Uint8Array): Stream.Stream<ArchiveEntry, ArchiveError> =>
  Stream.suspend(() => {
    if (tar.byteLength > maximumArchiveSize) return Stream.fail(new ArchiveError({ cause: `is larger than ${maximumArchiveSize} bytes` }))
    return Stream.fromAsyncIterable(
      unpacked(tar),
      (error) => new ArchiveError({ cause: error instanceof Error ? error.message : String(error) })
    ).pipe(
      Stream.zipWithIndex,
      Stream.mapEffect(([entry, index]) =>
        index < maximumEntries ? toEntry(entry) : Effect.fail(new ArchiveError({ cause: `has more than ${maximumEntries} entries` }))
      ),
      Stream.filter((entry) => entry !== undefined)
    )
  })

/** A file of an archive. */
export interface ArchiveFile {
  readonly bytes: Uint8Array
  readonly mode: number
}

/** The archive's files by path. A path that occurs twice has its last content; a path that is both a file and a folder is refused. */
export const readFiles = (tar: Uint8Array): Effect.Effect<ReadonlyMap<string, ArchiveFile>, ArchiveError> =>
  Effect.gen(function* () {
    const files = new Map<string, ArchiveFile>()
    const folders = new Set<string>()
    yield* Stream.runForEach(entries(tar), ({ bytes, mode, path, type }) => {
      const names = path.split("/")
      if (type === "file") names.pop()
      for (let depth = 1; depth <= names.length; depth++) folders.add(names.slice(0, depth).join("/"))
      if (type === "file") files.set(path, { bytes, mode })
      return Effect.void
    })
    for (const path of files.keys()) if (folders.has(path)) return yield* new ArchiveError({ cause: "is a file and a folder", path })
    return files
  })

/** The content of the archive's files by path. */
export const readArchive = (tar: Uint8Array): Effect.Effect<ReadonlyMap<string, Uint8Array>, ArchiveError> =>
  Effect.map(readFiles(tar), (files) => new Map(Array.from(files, ([path, { bytes }]) => [path, bytes])))
