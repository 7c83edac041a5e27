/** Lists of directories, in pages. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { describe, type Entry } from "./Entry.js"
import { FileError, refusal } from "./FileError.js"
import { type Found, walk } from "./Walk.js"

/** Bytes of the paths of one page. */
const maximumPage = 4 * 1024 * 1024

/** Entries of a page that are described at a time. */
const together = 16

/** Where a page has ended: the path below the directory, as bytes. */
const cursorOf = ({ relative }: Found): string => relative.toString("base64url")

const afterOf = (cursor: string | undefined): ReadonlyArray<Buffer> => {
  if (cursor === undefined || cursor === "") return []
  if (!/^[\w-]{1,8192}$/.test(cursor)) throw new FileError(400, 'The parameter "after" must be the "next" of another page.')
  const names: Array<Buffer> = []
  const bytes = Buffer.from(cursor, "base64url")
  for (let start = 0; start <= bytes.length;) {
    const end = bytes.indexOf("/", start)
    names.push(bytes.subarray(start, end === -1 ? bytes.length : end))
    start = (end === -1 ? bytes.length : end) + 1
  }
  return names
}

export interface Page {
  readonly entries: ReadonlyArray<Entry>
  /** Where the next page begins; absent on the last one. */
  readonly next?: string
}

const described = async (directory: string, found: ReadonlyArray<Found>): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  for (let start = 0; start < found.length; start += together) {
    const some = found.slice(start, start + together)
    // An entry that was removed since is left out
    const results = await Promise.all(
      some.map(({ path, relative }) => describe(join(directory, relative.toString()), path).catch(() => undefined))
    )
    entries.push(...results.filter((entry) => entry !== undefined))
  }
  return entries
}

/** Lists what is below a directory, in the order of the paths' bytes: each directory before what it holds. */
export const list = async (
  directory: string,
  {
    after,
    depth,
    limit,
    signal
  }: { readonly after: string | undefined; readonly depth: number; readonly limit: number; readonly signal: AbortSignal }
): Promise<Page> => {
  if (!(await stat(directory)).isDirectory()) throw refusal(409, directory, "is not a directory", "ENOTDIR")
  const found: Array<Found> = []
  let bytes = 0
  let hasMore = false
  for await (const each of walk(directory, { after: afterOf(after), depth, batch: limit + 1, unreadable: "skip", signal })) {
    hasMore = found.length === limit || bytes > maximumPage
    if (hasMore) break
    found.push(each)
    bytes += each.path.length
  }
  const last = hasMore ? found.at(-1) : undefined
  const entries = await described(directory, found)
  return last === undefined ? { entries } : { entries, next: cursorOf(last) }
}
