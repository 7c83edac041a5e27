/** Moves and copies. */
import { type BigIntStats, constants } from "node:fs"
import { chmod, copyFile, type FileHandle, lstat, mkdir, open, readlink, rename, symlink, unlink, utimes } from "node:fs/promises"
import { sep } from "node:path"
import { discard, draftBeside, inTurn, renameToNew } from "./Drafts.js"
import { describe, type Entry, modeBitsOf } from "./Entry.js"
import { at, codeOf, refusal, unlessMissing } from "./FileError.js"
import { openFile } from "./Download.js"
import { removeTree } from "./Removal.js"
import { join as below, walk } from "./Walk.js"

export interface Transfer {
  readonly from: string
  readonly to: string
  /** Whether a file at `to` is replaced. */
  readonly overwrite: boolean
  /** Whether a directory may be copied. */
  readonly recursive: boolean
  readonly signal: AbortSignal
}

/** Bytes of a file that are copied at a time. */
const pieceBytes = 1024 * 1024

/** Names of one directory that are in memory at a time. */
const batch = 100_000

const slash = 0x2f

const uncopied = "is a pipe, a socket or a device, which cannot be copied"

const lstatOf = (path: string | Buffer) => lstat(path, { bigint: true })

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === sep ? sep : directory + sep)

const copyBytes = async (from: FileHandle, to: FileHandle, signal: AbortSignal): Promise<void> => {
  const piece = Buffer.allocUnsafeSlow(pieceBytes)
  for (let position = 0; ;) {
    signal.throwIfAborted()
    const { bytesRead } = await from.read(piece, 0, piece.length, position)
    if (bytesRead === 0) return
    for (let written = 0; written < bytesRead;) {
      const { bytesWritten } = await to.write(piece, written, bytesRead - written, position + written)
      written += bytesWritten
    }
    position += bytesRead
  }
}

/** Whether the file system has shared the blocks of a file with a new one, which takes no time. */
const isCloned = (from: Buffer, to: Buffer): Promise<boolean> =>
  copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false
  )

/** Copies a file to a new one. In pieces, since the system's own copy could not be ended. */
const copyFileTo = async (from: Buffer, to: Buffer, signal: AbortSignal): Promise<void> => {
  if (await isCloned(from, to)) return
  const source = await openFile(from)
  try {
    const target = await open(to, "wx", 0o600)
    try {
      await copyBytes(source, target, signal)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Gives a copy the permission bits of its source, and after a move the times. */
const complete = async (to: Buffer, stats: BigIntStats, isMove: boolean): Promise<void> => {
  await chmod(to, modeBitsOf(stats))
  if (isMove) await utimes(to, Number(stats.atimeMs) / 1000, Number(stats.mtimeMs) / 1000)
}

interface Copied {
  readonly from: Buffer
  readonly to: Buffer
  readonly stats: BigIntStats
}

/** Copies one file, link or directory without its entries to a new path. A move refuses what cannot be copied, and a copy leaves it out. */
const copyOne = async (from: Buffer, to: Buffer, isMove: boolean, signal: AbortSignal): Promise<Copied> => {
  const stats = await lstatOf(from)
  if (stats.isSymbolicLink()) await symlink(await readlink(from, { encoding: "buffer" }), to)
  // Its own bits come when its entries are there
  else if (stats.isDirectory()) await mkdir(to, { mode: 0o700 })
  else if (stats.isFile()) {
    await copyFileTo(from, to, signal)
    await complete(to, stats, isMove)
  } else if (isMove) throw refusal(409, from.toString(), uncopied, "ENXIO")
  return { from, to, stats }
}

const isBelow = (path: Buffer, directory: Buffer): boolean =>
  path[directory.length] === slash && path.subarray(0, directory.length).equals(directory)

/** Copies a file, a link, or a directory with all that it holds, to a new path. */
const copyTree = async (source: string, target: string, isMove: boolean, signal: AbortSignal): Promise<void> => {
  const root = await copyOne(Buffer.from(source), Buffer.from(target), isMove, signal)
  if (!root.stats.isDirectory()) return
  /** The directories that are open: a directory's time changes with its entries. */
  const within: Array<Copied> = [root]
  /** Completes the directories that do not hold the next path. */
  const leave = async (next: Buffer): Promise<void> => {
    const last = within.at(-1)
    if (last === undefined || isBelow(next, last.from)) return
    within.pop()
    await complete(last.to, last.stats, isMove)
    return leave(next)
  }
  for await (const { path, relative } of walk(source, { depth: Number.POSITIVE_INFINITY, batch, unreadable: "fail", signal })) {
    await leave(path)
    const copied = await at(path.toString(), () => copyOne(path, below(root.to, relative), isMove, signal))
    if (copied.stats.isDirectory()) within.push(copied)
  }
  await leave(Buffer.alloc(0))
}

/** Removes what a move has copied. */
const removeSource = (from: string, isDirectory: boolean, signal: AbortSignal): Promise<void> =>
  isDirectory ? removeTree(Buffer.from(from), signal) : unlink(from)

/** Gives a draft the name of a transfer's target. */
const publish = async (draft: string, { overwrite, to }: Transfer, isFile: boolean): Promise<void> => {
  if (overwrite) await rename(draft, to)
  else await renameToNew(draft, to, isFile)
}

/** Refuses transfers that the target's kind does not permit, before anything is copied. */
const requireTarget = async ({ from, overwrite, to }: Transfer, source: BigIntStats): Promise<void> => {
  if (source.isDirectory() && isWithin(to, from)) throw refusal(409, to, "is within the directory itself")
  const target = await unlessMissing(() => lstatOf(to))
  if (target === undefined) return
  if (!overwrite) throw refusal(409, to, "exists already", "EEXIST")
  if (target.isDirectory() && !source.isDirectory()) throw refusal(409, to, "is a directory", "EISDIR")
  if (!target.isDirectory() && source.isDirectory()) throw refusal(409, to, "is not a directory", "ENOTDIR")
}

const isSameFile = async (source: BigIntStats, to: string): Promise<boolean> => {
  const target = source.isDirectory() ? undefined : await unlessMissing(() => lstatOf(to))
  return target !== undefined && target.ino === source.ino && target.dev === source.dev
}

/** Copies beside the target first, so that a copy that breaks off leaves nothing. */
const copyBeside = async (transfer: Transfer, source: BigIntStats, isMove: boolean): Promise<void> => {
  const draft = draftBeside(transfer.to)
  try {
    await copyTree(transfer.from, draft, isMove, transfer.signal)
    await publish(draft, transfer, source.isFile())
  } catch (error) {
    await discard(draft)
    throw error
  }
}

/** Moves a file, a link or a directory, also to another device. */
export const move = (transfer: Transfer): Promise<Entry> =>
  inTurn(transfer.to, async () => {
    const { from, overwrite, signal, to } = transfer
    const source = await at(from, () => lstatOf(from))
    await at(to, async () => {
      await requireTarget(transfer, source)
      if (from === to) return
      try {
        // The system renames nothing where both names are of one file
        if (await isSameFile(source, to)) await unlink(from)
        else if (overwrite) await rename(from, to)
        else await renameToNew(from, to, source.isFile())
      } catch (error) {
        if (codeOf(error) !== "EXDEV") throw error
        await copyBeside(transfer, source, true)
        await at(from, () => removeSource(from, source.isDirectory(), signal))
      }
    })
    return describe(to)
  })

/** Copies a file, a link as such, or a directory with all that it holds. */
export const copy = (transfer: Transfer): Promise<Entry> =>
  inTurn(transfer.to, async () => {
    const { from, recursive, to } = transfer
    const source = await at(from, () => lstatOf(from))
    if (source.isDirectory() && !recursive) throw refusal(409, from, "is a directory, which is copied only with recursive", "EISDIR")
    if (!source.isDirectory() && !source.isFile() && !source.isSymbolicLink()) {
      throw refusal(409, from, uncopied, "ENXIO")
    }
    await at(to, async () => {
      await requireTarget(transfer, source)
      if (from === to) throw refusal(409, to, "cannot be copied to itself")
      await copyBeside(transfer, source, false)
    })
    return describe(to)
  })
