/** Directories of this machine as tar archives. */
import { createReadStream, createWriteStream } from "node:fs"
import { chmod, lstat, mkdir, readdir, readlink, realpath, rm, symlink } from "node:fs/promises"
import { join, relative, resolve, sep } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { extract, type Header, pack, type Pack } from "tar-stream"
import { Failure, writeFailure } from "../Failure.js"

const addFile = (archive: Pack, path: string, header: Partial<Header> & Pick<Header, "name"> & { readonly size: number }): Promise<void> =>
  new Promise((done, fail) => {
    const entry = archive.entry(header, (error) => (error === undefined || error === null ? done() : fail(error)))
    // A file that grows while it is read would break the archive
    const end = Math.max(0, header.size - 1)
    if (header.size === 0) entry.end(null)
    else pipeline(createReadStream(path, { end }), entry).catch(fail)
  })

const add = async (archive: Pack, root: string, name: string): Promise<void> => {
  const path = join(root, name)
  const found = await lstat(path)
  const header = { name, mode: found.mode & 0o777, mtime: found.mtime }
  if (found.isSymbolicLink()) archive.entry({ ...header, type: "symlink", linkname: await readlink(path) })
  else if (found.isFile()) await addFile(archive, path, { ...header, type: "file", size: found.size })
  else if (found.isDirectory()) {
    if (name !== "") archive.entry({ ...header, name: `${name}/`, type: "directory" })
    for (const each of (await readdir(path)).toSorted()) await add(archive, root, name === "" ? each : `${name}/${each}`)
  }
}

/** Packs a directory. Sockets and devices are left out. */
export const packed = async (directory: string): Promise<Readable> => {
  const archive = pack()
  add(archive, directory, "").then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error)))
  )
  // A stream of its own kind, which Node reads by iterating it
  return Readable.from(archive as AsyncIterable<Uint8Array>, { objectMode: false })
}

const leadsOut = (name: string): Failure => new Failure({ message: `The archive has the path ${name}, which leads out of it.` })

/** The entry at a path itself: a link is not followed. */
const kindAt = async (path: string): Promise<"directory" | "other" | "nothing"> => {
  try {
    return (await lstat(path)).isDirectory() ? "directory" : "other"
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "nothing"
    throw error
  }
}

/** The place of an entry, with the directories above it. Fails if it leads out of the directory, by itself or over a link. */
const placeIn = async (root: string, name: string): Promise<string> => {
  const place = resolve(root, name)
  if (place === root) return place
  if (!place.startsWith(`${root}${sep}`)) throw leadsOut(name)
  const parts = relative(root, place).split(sep).slice(0, -1)
  let above = root
  for (const part of parts) {
    above = join(above, part)
    const kind = await kindAt(above)
    // A link of the archive could lead anywhere
    if (kind === "other") throw leadsOut(name)
    if (kind === "nothing") await mkdir(above)
  }
  return place
}

const makeDirectory = async (root: string, place: string, mode: number): Promise<void> => {
  if ((await kindAt(place)) === "other") await rm(place, { force: true })
  await mkdir(place, { recursive: true })
  if (place !== root) await chmod(place, (mode & 0o777) | 0o700)
}

interface Unpacked {
  readonly entries: number
  /** Of the files' contents. */
  readonly bytes: number
}

/** Unpacks an archive into a directory that exists. */
export const unpack = async (archive: Readable, directory: string, signal: AbortSignal): Promise<Unpacked> => {
  const root = await realpath(directory)
  const entries = extract()
  let count = 0
  let bytes = 0
  const writing = (async () => {
    for await (const entry of entries) {
      const { linkname, mode = 0o644, name, size = 0, type } = entry.header
      const place = await placeIn(root, name)
      if (type === "directory") await makeDirectory(root, place, mode)
      else if (type === "symlink" && typeof linkname === "string") {
        await rm(place, { force: true })
        await symlink(linkname, place)
      } else if (type === "file") {
        // A link at this place would take the file elsewhere
        await rm(place, { force: true })
        await pipeline(entry, createWriteStream(place, { flags: "wx", mode: mode & 0o777 })).catch((error: unknown) => {
          throw writeFailure(error, place)
        })
        bytes += size
      }
      entry.resume()
      count++
    }
  })()
  await Promise.all([pipeline(archive, entries, { signal }), writing])
  return { entries: count, bytes }
}
