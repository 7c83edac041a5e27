/** Writes of files: to a draft beside the file, which takes its name when all bytes are there. */
import { type BigIntStats, constants } from "node:fs"
import { type FileHandle, mkdir, open, rename, stat } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { dirname } from "node:path"
import { precondition } from "./Conditions.js"
import { discard, draftBeside, inTurn, renameToNew, sweepBeside } from "./Drafts.js"
import { describeTarget, type Entry, etagOf, modeBitsOf } from "./Entry.js"
import { FileError, refusal, unlessMissing } from "./FileError.js"
import { destinationOf } from "./FilePath.js"

export interface Wanted {
  /** Permission bits; undefined keeps those of the file, and gives a new file those of a new file in a shell. */
  readonly mode: number | undefined
  /** Whether missing directories are made. */
  readonly parents: boolean
  /** Whether the bytes are on the device before the answer. */
  readonly fsync: boolean
}

/** Permission bits of a new file, before the process's mask. */
const newFile = 0o666

/** Of a draft until it is complete: what others may not read of the file, they may not read of its draft. */
const ownerAlone = 0o600

/** What a write replaces. Fails with 409 where that is no regular file, and with 412 where the request expects another version. */
const replaced = async (path: string, destination: string, request: IncomingMessage): Promise<BigIntStats | undefined> => {
  const current = await unlessMissing(() => stat(destination, { bigint: true }))
  if (current?.isDirectory() === true) throw refusal(409, path, "is a directory", "EISDIR")
  if (current?.isFile() === false) throw refusal(409, path, "is not a regular file", "ENXIO")
  const validators = current && { etag: etagOf(current), modified: Number(current.mtimeMs) }
  if (precondition(request.headers, validators, false) === "failed") {
    throw refusal(412, path, current === undefined ? "does not exist" : "is not the version that the request names")
  }
  return current
}

/** Gives a complete draft the mode of the file that it replaces, and its owner where the system permits that. */
const prepare = async (handle: FileHandle, current: BigIntStats | undefined, mode: number | undefined): Promise<void> => {
  if (current !== undefined) {
    const { gid, uid } = await handle.stat({ bigint: true })
    if (gid !== current.gid || uid !== current.uid) {
      await handle.chown(Number(current.uid), Number(current.gid)).catch(() => undefined)
    }
  }
  const bits = mode ?? (current && modeBitsOf(current))
  // After a change of the owner, which clears some of them
  if (bits !== undefined) await handle.chmod(bits)
}

/** Bytes, and pieces of them, that are gathered while others are written. */
const mostGathered = 512 * 1024
const mostPieces = 256

const writeAll = async (handle: FileHandle, parts: ReadonlyArray<Uint8Array>, position: number): Promise<void> => {
  let left = parts
  for (let at = position; left.length > 0;) {
    const { bytesWritten } = await handle.writev(left, at)
    at += bytesWritten
    left = after(left, bytesWritten)
  }
}

/** What follows the first bytes of some parts. */
const after = (parts: ReadonlyArray<Uint8Array>, bytes: number): ReadonlyArray<Uint8Array> => {
  let rest = bytes
  return parts.flatMap((part) => {
    const written = Math.min(rest, part.length)
    rest -= written
    return written < part.length ? [part.subarray(written)] : []
  })
}

/** Writes what a stream carries from a position on, while its next bytes arrive, which are gathered for the next write. Answers where the bytes end. */
export const receive = async (source: AsyncIterable<unknown>, handle: FileHandle, start = 0): Promise<number> => {
  let position = start
  let gathered: Array<Uint8Array> = []
  let size = 0
  let writing: Promise<void> | undefined
  const write = (): void => {
    const [parts, at] = [gathered, position]
    gathered = []
    position += size
    size = 0
    writing = writeAll(handle, parts, at).then(() => {
      writing = undefined
      if (gathered.length > 0) write()
    })
    // Its failure is found by who waits for it
    writing.catch(() => undefined)
  }
  try {
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array) || chunk.length === 0) continue
      gathered.push(chunk)
      size += chunk.length
      if (writing === undefined) write()
      else if (size >= mostGathered || gathered.length >= mostPieces) await writing
    }
  } finally {
    await writing
    // The write of the bytes that came during the former write
    await writing
  }
  return position
}

const fill = async (draft: string, request: IncomingMessage, current: BigIntStats | undefined, wanted: Wanted): Promise<void> => {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  const isPlain = current === undefined && wanted.mode === undefined
  const handle = await open(draft, flags, isPlain ? newFile : ownerAlone)
  try {
    // The request stays open where a write fails, since it has to be answered
    await receive(request.iterator({ destroyOnReturn: false }), handle)
    await prepare(handle, current, wanted.mode)
    if (wanted.fsync) await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Files that a request adds to now. A second one would write over what the first one adds. */
const growing = new Set<string>()

interface Addition extends Wanted {
  readonly offset: number
}

const addAtEnd = async (
  path: string,
  destination: string,
  request: IncomingMessage,
  { fsync, mode, offset, parents }: Addition
): Promise<boolean> => {
  const current = await replaced(path, destination, request)
  const checkEnd = (size: number): void => {
    if (size !== offset) throw refusal(412, path, `has ${size} bytes, and the offset is ${offset}`)
  }
  checkEnd(Number(current?.size ?? 0))
  if (parents) await mkdir(dirname(destination), { recursive: true })
  const handle = await open(destination, constants.O_WRONLY | constants.O_CREAT, mode ?? newFile)
  try {
    // Another program may have written to it, or replaced it, before it was open
    checkEnd((await handle.stat()).size)
    await receive(request.iterator({ destroyOnReturn: false }), handle, offset)
    if (mode !== undefined) await handle.chmod(mode)
    if (fsync) await handle.sync()
  } finally {
    await handle.close()
  }
  return current === undefined
}

/**
 * Adds a request's bytes to the end of a file, which is made if the end is its beginning. Fails with 412 if the file does not end at the offset, and with
 * 409 while another request adds to it. What has arrived of a request that breaks off stays.
 */
export const append = async (
  path: string,
  request: IncomingMessage,
  addition: Addition
): Promise<{ readonly isNew: boolean; readonly entry: Entry }> => {
  const destination = await destinationOf(path)
  if (growing.has(destination)) throw refusal(409, path, "is being added to by another request", "EBUSY")
  growing.add(destination)
  try {
    const isNew = await addAtEnd(path, destination, request, addition)
    return { isNew, entry: await describeTarget(path) }
  } finally {
    growing.delete(destination)
  }
}

/** Writes a request's bytes to a file. An upload that breaks off leaves the file as it was. Answers whether the file is new. */
export const upload = async (
  path: string,
  request: IncomingMessage,
  wanted: Wanted
): Promise<{ readonly isNew: boolean; readonly entry: Entry }> => {
  const destination = await destinationOf(path)
  const before = await replaced(path, destination, request)
  if (wanted.parents) await mkdir(dirname(destination), { recursive: true })
  // Whatever it finds, the upload goes on
  sweepBeside(destination, Date.now()).catch(() => undefined)
  const draft = draftBeside(destination)
  try {
    await fill(draft, request, before, wanted)
    const current = await inTurn(destination, async () => {
      const now = await replaced(path, destination, request)
      if (now === undefined && request.headers["if-none-match"] !== undefined) await renameToNew(draft, destination, true)
      else await rename(draft, destination)
      return now
    })
    return { isNew: current === undefined, entry: await describeTarget(path) }
  } catch (error) {
    await discard(draft)
    // Between the check and the link, another program has made the file
    if (error instanceof FileError && error.code === "EEXIST") throw refusal(412, path, "exists already")
    throw error
  }
}
