/** Removes files and directories. */
import { lstat, rmdir, unlink } from "node:fs/promises"
import type { IncomingHttpHeaders } from "node:http"
import { precondition } from "./Conditions.js"
import { etagOf } from "./Entry.js"
import { codeOf, refusal } from "./FileError.js"
import { entries, join } from "./Walk.js"

/** Entries of a directory that are removed at a time. */
const together = 16

/** How often a directory is emptied, where other programs write into it. */
const rounds = 5

const unlessGone = (error: unknown): void => {
  if (codeOf(error) !== "ENOENT") throw error
}

/** Removes what a directory holds, and the directory. Symbolic links are removed, not followed. */
export const removeTree = async (directory: Buffer, signal: AbortSignal): Promise<void> => {
  for (let round = 1; ; round++) {
    let removing: Array<Promise<void>> = []
    for await (const { kind, name } of entries(directory)) {
      signal.throwIfAborted()
      const path = join(directory, name)
      if (kind === "directory") await removeTree(path, signal).catch(unlessGone)
      else removing.push(unlink(path).catch(unlessGone))
      if (removing.length < together) continue
      await Promise.all(removing)
      removing = []
    }
    await Promise.all(removing)
    try {
      return await rmdir(directory)
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY" || round === rounds) throw error
    }
  }
}

/** Removes what is at a path; of a symbolic link, the link itself. */
export const remove = async (path: string, isRecursive: boolean, headers: IncomingHttpHeaders, signal: AbortSignal): Promise<void> => {
  if (path === "/") throw refusal(409, path, "cannot be deleted")
  const stats = await lstat(path, { bigint: true })
  if (precondition(headers, { etag: etagOf(stats), modified: Number(stats.mtimeMs) }, false) === "failed") {
    throw refusal(412, path, "is not the version that the request names")
  }
  if (!stats.isDirectory()) return unlink(path)
  return isRecursive ? removeTree(Buffer.from(path), signal) : rmdir(path)
}
