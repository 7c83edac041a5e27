/** What is told of a file or directory. */
import type { BigIntStats } from "node:fs"
import { lstat, readlink, stat } from "node:fs/promises"
import { basename } from "node:path"

export interface Entry {
  /** Absolute. */
  readonly path: string
  readonly name: string
  readonly type: "file" | "directory" | "symlink" | "other"
  /** Bytes. */
  readonly size: number
  /** Permission bits as four octal digits. */
  readonly mode: string
  readonly modified_at: string
  readonly etag: string
  /** Where a symbolic link leads, as it is written in it. */
  readonly target?: string
}

const permissionBits = 0o7777n

/** A strong validator: writing a file changes its time, and replacing it the number of its inode. */
export const etagOf = ({ ino, mtimeNs, size }: BigIntStats): string => `"${ino.toString(36)}-${size.toString(36)}-${mtimeNs.toString(36)}"`

/** Permission bits as four octal digits. */
export const modeTextOf = ({ mode }: BigIntStats): string => (mode & permissionBits).toString(8).padStart(4, "0")

/** Permission bits as a number, for the system's calls. */
export const modeBitsOf = ({ mode }: BigIntStats): number => Number(mode & permissionBits)

const typeOf = (stats: BigIntStats): Entry["type"] => {
  if (stats.isFile()) return "file"
  if (stats.isDirectory()) return "directory"
  return stats.isSymbolicLink() ? "symlink" : "other"
}

export const entryOf = (path: string, stats: BigIntStats, target?: string): Entry => ({
  path,
  name: basename(path),
  type: typeOf(stats),
  size: Number(stats.size),
  mode: modeTextOf(stats),
  modified_at: new Date(Number(stats.mtimeMs)).toISOString(),
  etag: etagOf(stats),
  ...(target === undefined ? {} : { target })
})

/** Describes what is at a path. A symbolic link is described itself. `location` is the path in the bytes of the system. */
export const describe = async (path: string, location: string | Buffer = path): Promise<Entry> => {
  const stats = await lstat(location, { bigint: true })
  return entryOf(path, stats, stats.isSymbolicLink() ? await readlink(location) : undefined)
}

/** Describes what a path leads to. */
export const describeTarget = async (path: string): Promise<Entry> => entryOf(path, await stat(path, { bigint: true }))
