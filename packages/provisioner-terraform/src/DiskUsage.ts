/** How much of the disk a folder takes. */
import type { Dirent } from "node:fs"
import * as fs from "node:fs/promises"
import { join } from "node:path"

/** Bytes that an entry takes at least: an empty file needs an inode. */
const leastOfEntry = 4096

/** Bytes of a file system's block in `st_blocks`. */
const block = 512

/** Bytes that a folder takes; the counting ends above `limit`. Links are not followed, and a file that vanishes during the count is passed over. */
export const diskUsage = async (folder: string, limit: number): Promise<number> => {
  const folders = [folder]
  let used = 0
  for (let next = folders.pop(); next !== undefined && used <= limit; next = folders.pop()) {
    const path = next
    const entries: ReadonlyArray<Dirent> = await fs.readdir(path, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const inner = join(path, entry.name)
      const blocks = await fs.lstat(inner).then(
        (stat) => stat.blocks,
        () => 0
      )
      used += Math.max(blocks * block, leastOfEntry)
      if (entry.isDirectory()) folders.push(inner)
      if (used > limit) break
    }
  }
  return used
}
