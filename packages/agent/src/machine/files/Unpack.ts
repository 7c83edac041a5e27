/** Unpacks a tar into a directory. Nothing is written outside of it, whatever the entries' names and links are. */
import { chmod, link, lstat, mkdir, open, rename, rm, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { type Extract, extract, type Header } from "tar-stream"
import { discard, draftBeside } from "./Drafts.js"
import { drained } from "./drained.js"
import { about, at, FileError, refusal, unlessMissing } from "./FileError.js"
import { receive } from "./Upload.js"

/** Entries of an archive. */
const maximumEntries = 1_000_000

/** Bytes of an entry's path, and of a link's target. */
const maximumName = 4095

/** The bits of an entry's mode that are taken: those that let a program run as another user are not. */
const permissionBits = 0o777

type Source = Extract extends AsyncIterable<infer Entry> ? Entry : never

export interface Unpacked {
  readonly entries: number
  /** Bytes of the files. */
  readonly bytes: number
}

/** The names of an entry's path; none for the directory itself. Fails with 400 for a path that leads out of the directory. */
const namesOf = (path: string): ReadonlyArray<string> => {
  const names = path.split("/").filter((name) => name !== "" && name !== ".")
  const reason = path.startsWith("/") ? "is an absolute path" : names.includes("..") ? "leads out of the directory" : undefined
  if (reason !== undefined) throw refusal(400, path, `is an entry of the archive that ${reason}`)
  if (path.includes("\0") || Buffer.byteLength(path) > maximumName) throw refusal(400, path, "is an entry whose path is not valid")
  return names
}

class Target {
  /** The directory that was looked at last: its path has no links. */
  private safe = ""

  constructor(readonly root: string) {}

  /** Makes the directory of an entry. Fails with 409 where a link or a file is in its way: what follows would be written elsewhere. */
  async directory(names: ReadonlyArray<string>): Promise<string> {
    let path = this.root
    if (join(path, ...names) === this.safe) return this.safe
    for (const name of names) {
      path = join(path, name)
      const current = path
      await at(current, async () => {
        const stats = await unlessMissing(() => lstat(current))
        if (stats === undefined) await mkdir(current)
        else if (!stats.isDirectory()) throw refusal(409, current, "is not a directory, which the archive has there", "ENOTDIR")
      })
    }
    this.safe = path
    return path
  }

  /** The path of an entry in its directory, which is made. */
  async place(names: ReadonlyArray<string>): Promise<string> {
    const path = join(await this.directory(names.slice(0, -1)), names.at(-1) ?? "")
    const stats = await unlessMissing(() => lstat(path))
    if (stats?.isDirectory() === true) throw refusal(409, path, "is a directory, where the archive has none", "EISDIR")
    return path
  }

  /** The file that a hard link leads to. */
  async linked(names: ReadonlyArray<string>): Promise<string> {
    const path = join(await this.directory(names.slice(0, -1)), names.at(-1) ?? "")
    if (!(await at(path, () => lstat(path))).isFile()) throw refusal(409, path, "is not a regular file", "ENXIO")
    return path
  }
}

/** Writes beside a path, and gives the result its name. What was there is replaced; a link there is not followed. */
const replace = async (path: string, write: (draft: string) => Promise<void>): Promise<void> => {
  const draft = draftBeside(path)
  try {
    await write(draft)
    await rename(draft, path)
  } catch (error) {
    await discard(draft)
    throw about(path, error)
  }
}

const unpackFile = async (entry: Source, path: string, { mode, mtime }: Header): Promise<number> => {
  let bytes = 0
  await replace(path, async (draft) => {
    const handle = await open(draft, "wx", 0o600)
    try {
      bytes = await receive(entry, handle)
      await handle.chmod(mode & permissionBits)
      await handle.utimes(mtime, mtime)
    } finally {
      await handle.close()
    }
  })
  return bytes
}

const linkNameOf = ({ linkname, name }: Header): string => {
  if (typeof linkname !== "string" || linkname === "" || linkname.includes("\0") || Buffer.byteLength(linkname) > maximumName) {
    throw refusal(400, name, "is a link without a valid target")
  }
  return linkname
}

/** Unpacks one entry. Answers its bytes, or undefined for what is left out: pipes, devices, and the directory itself. */
const unpackEntry = async (target: Target, entry: Source): Promise<number | undefined> => {
  const { header } = entry
  const names = namesOf(header.name)
  if (names.length === 0) return undefined
  switch (header.type) {
    case "file":
    case "contiguous-file":
      return unpackFile(entry, await target.place(names), header)
    case "directory": {
      const path = await target.directory(names)
      // Its owner has to be able to write what follows
      await at(path, () => chmod(path, (header.mode & permissionBits) | 0o700))
      return 0
    }
    case "symlink": {
      const linkname = linkNameOf(header)
      await replace(await target.place(names), (draft) => symlink(linkname, draft))
      return 0
    }
    case "link": {
      const file = await target.linked(namesOf(linkNameOf(header)))
      const path = await target.place(names)
      await replace(path, async (draft) => {
        await link(file, draft)
        // The system renames nothing where both names are of one file
        await rm(path, { force: true })
      })
      return 0
    }
    default:
      return undefined
  }
}

/** Feeds the reader of an archive, no faster than it reads. */
const feed = async (source: Readable, reader: ReturnType<typeof extract>): Promise<void> => {
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      if (reader.destroyed) return
      if (reader.write(chunk)) continue
      await drained(reader)
    }
    reader.end(null)
  } catch (error) {
    reader.destroy(error instanceof Error ? error : undefined)
  }
}

/** The error as one of the archive, unless an entry's check or the system has failed. */
const asArchiveError = (error: unknown): unknown => {
  if (error instanceof FileError || !(error instanceof Error) || "syscall" in error) return error
  return new FileError(400, `The body is not a valid tar: ${error.message}`)
}

/** Unpacks the entries of a tar in their order. What was unpacked before a failure stays. */
export const unpack = async (root: string, source: Readable): Promise<Unpacked> => {
  await at(root, async () => {
    await mkdir(root, { recursive: true })
    if (!(await stat(root)).isDirectory()) throw refusal(409, root, "is not a directory", "ENOTDIR")
  })
  const target = new Target(root)
  const reader = extract()
  // Entries are lost when the reader is fed before its iterator exists
  const iterator = reader[Symbol.asyncIterator]()
  void feed(source, reader)
  let entries = 0
  let bytes = 0
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const entry: Source = next.value
      const written = await unpackEntry(target, entry)
      // The bytes of an entry that is left out have to be read too
      entry.resume()
      if (written === undefined) continue
      entries++
      bytes += written
      if (entries > maximumEntries) throw new FileError(400, `The archive has more than ${maximumEntries} entries.`)
    }
  } catch (error) {
    throw asArchiveError(error)
  } finally {
    reader.destroy()
  }
  return { entries, bytes }
}
