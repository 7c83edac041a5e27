/** Attributes of files on the wire. */
import { type FileHandle } from "node:fs/promises"
import { promises as fs, type Stats } from "node:fs"
import { type Reader, uint32, uint64 } from "./Wire.js"

const Flag = { size: 1, owner: 2, permissions: 4, times: 8, extended: 0x8000_0000 } as const

/** Pairs of unknown attributes that one request may have. */
const maximumExtended = 64

export interface Attributes {
  readonly size: number | undefined
  readonly owner: readonly [uid: number, gid: number] | undefined
  readonly permissions: number | undefined
  /** Seconds since 1970 of the last use and the last change. */
  readonly times: readonly [atime: number, mtime: number] | undefined
}

export const readAttributes = (reader: Reader): Attributes => {
  const flags = reader.uint32()
  const has = (flag: number): boolean => (flags & flag) !== 0
  const attributes: Attributes = {
    size: has(Flag.size) ? reader.uint64() : undefined,
    owner: has(Flag.owner) ? [reader.uint32(), reader.uint32()] : undefined,
    permissions: has(Flag.permissions) ? reader.uint32() & 0o7777 : undefined,
    times: has(Flag.times) ? [reader.uint32(), reader.uint32()] : undefined
  }
  if (has(Flag.extended)) {
    for (let left = Math.min(reader.uint32(), maximumExtended); left > 0; left -= 1) {
      reader.string()
      reader.string()
    }
  }
  return attributes
}

const seconds = (milliseconds: number): number => Math.max(0, Math.floor(milliseconds / 1000))

export const attributesOf = ({ atimeMs, gid, mode, mtimeMs, size, uid }: Stats): Buffer =>
  Buffer.concat([
    uint32(Flag.size | Flag.owner | Flag.permissions | Flag.times),
    uint64(size),
    uint32(uid),
    uint32(gid),
    uint32(mode),
    uint32(seconds(atimeMs)),
    uint32(seconds(mtimeMs))
  ])

/** No attributes, for answers that have none. */
export const noAttributes = uint32(0)

/** Changes a file by its path, or by its handle if it is open. */
export const change = async (file: Buffer | FileHandle, { owner, permissions, size, times }: Attributes): Promise<void> => {
  if (Buffer.isBuffer(file)) {
    if (size !== undefined) await fs.truncate(file, size)
    if (permissions !== undefined) await fs.chmod(file, permissions)
    if (times !== undefined) await fs.utimes(file, ...times)
    if (owner !== undefined) await fs.chown(file, ...owner)
    return
  }
  if (size !== undefined) await file.truncate(size)
  if (permissions !== undefined) await file.chmod(permissions)
  if (times !== undefined) await file.utimes(...times)
  if (owner !== undefined) await file.chown(...owner)
}

/** Changes a link itself. Systems keep no size and, mostly, no mode of it. */
export const changeLink = async (path: Buffer, { owner, times }: Attributes): Promise<void> => {
  if (times !== undefined) await fs.lutimes(path, ...times)
  if (owner !== undefined) await fs.lchown(path, ...owner)
}

const letters = "rwxrwxrwx"

const typeLetter = (stats: Stats): string => {
  if (stats.isDirectory()) return "d"
  if (stats.isSymbolicLink()) return "l"
  if (stats.isFIFO()) return "p"
  if (stats.isSocket()) return "s"
  if (stats.isCharacterDevice()) return "c"
  return stats.isBlockDevice() ? "b" : "-"
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** The line of a file as `ls -l` prints it, which clients show to their users. */
export const longName = (name: Buffer, stats: Stats): Buffer => {
  const mode = [...letters].map((letter, index) => ((stats.mode >> (8 - index)) & 1 ? letter : "-")).join("")
  const date = stats.mtime
  const day = String(date.getDate()).padStart(2)
  const isRecent = Math.abs(Date.now() - stats.mtimeMs) < 180 * 24 * 3_600_000
  const clock = `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`
  const time = isRecent ? clock : String(date.getFullYear()).padStart(5)
  const columns = [
    `${typeLetter(stats)}${mode}`,
    String(stats.nlink).padStart(4),
    String(stats.uid).padEnd(8),
    String(stats.gid).padEnd(8),
    String(stats.size).padStart(8),
    months[date.getMonth()] ?? "",
    day,
    time
  ]
  return Buffer.concat([Buffer.from(`${columns.join(" ")} `), name])
}
