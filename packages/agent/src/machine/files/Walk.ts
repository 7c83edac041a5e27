/** Directories and what is below them, in the order of the names' bytes, with a bounded number of names in memory. */
import type { Dirent } from "node:fs"
import { lstat, opendir } from "node:fs/promises"
import { codeOf } from "./FileError.js"

export interface Child {
  /** The bytes of the system: a name need not be valid UTF-8. */
  readonly name: Buffer
  readonly kind: "file" | "directory" | "symlink" | "other"
}

/** Entries that are read from the system at once. */
const bufferSize = 256

const separator = Buffer.from("/")

export const join = (directory: Buffer, name: Buffer): Buffer =>
  directory.length === 0 ? name : Buffer.concat(directory.at(-1) === separator[0] ? [directory, name] : [directory, separator, name])

const kindOf = (entry: Dirent): Child["kind"] => {
  if (entry.isDirectory()) return "directory"
  if (entry.isFile()) return "file"
  return entry.isSymbolicLink() ? "symlink" : "other"
}

/** The entries of a directory as they come. */
export async function* entries(directory: Buffer): AsyncGenerator<Child> {
  // The types of Node do not know that names may be bytes
  const options = { encoding: "buffer", bufferSize } as unknown as { readonly bufferSize: number }
  for await (const entry of await opendir(directory, options)) yield { name: Buffer.from(entry.name), kind: kindOf(entry) }
}

const byName = (one: Child, other: Child): number => Buffer.compare(one.name, other.name)

/** The first names of a directory after another one, at most `count`. Reads the whole directory for it. */
export const children = async (
  directory: Buffer,
  { after, count, signal }: { readonly after?: Buffer | undefined; readonly count: number; readonly signal: AbortSignal }
): Promise<ReadonlyArray<Child>> => {
  let found: Array<Child> = []
  /** The last of the first names, once there are enough. */
  let last: Buffer | undefined
  const settle = (): void => {
    found = found.toSorted(byName).slice(0, count)
    if (found.length === count) last = found.at(-1)?.name
  }
  for await (const child of entries(directory)) {
    signal.throwIfAborted()
    if (after !== undefined && Buffer.compare(child.name, after) <= 0) continue
    if (last !== undefined && Buffer.compare(child.name, last) >= 0) continue
    found.push(child)
    if (found.length >= 2 * count) settle()
  }
  settle()
  return found
}

export interface Found extends Child {
  readonly path: Buffer
  /** The path below the directory where the walk began. */
  readonly relative: Buffer
}

export interface Plan {
  /** Levels below the directory; 1 is its own entries. */
  readonly depth: number
  /** The names below the directory after which the walk begins. */
  readonly after?: ReadonlyArray<Buffer>
  /** Names of one directory that are in memory at a time. */
  readonly batch: number
  /** What becomes of a directory that cannot be read. One that was removed since is always passed over. */
  readonly unreadable: "fail" | "skip"
  readonly signal: AbortSignal
}

const isPassedOver = (error: unknown, { unreadable }: Plan): boolean => {
  const code = codeOf(error)
  return code === "ENOENT" || code === "ENOTDIR" || (unreadable === "skip" && code !== undefined)
}

/** The names of a directory. */
async function* batches(directory: Buffer, from: Buffer | undefined, plan: Plan, isRoot: boolean): AsyncGenerator<Child> {
  let after = from
  for (;;) {
    const options = { after, count: plan.batch, signal: plan.signal }
    const batch = await children(directory, options).catch((error: unknown) => {
      if (isRoot || plan.signal.aborted || !isPassedOver(error, plan)) throw error
      return []
    })
    yield* batch
    after = batch.at(-1)?.name
    if (batch.length < plan.batch) return
  }
}

async function* below(directory: Buffer, relative: Buffer, plan: Plan, isRoot: boolean): AsyncGenerator<Found> {
  const deeper = (child: Child, after: ReadonlyArray<Buffer>) =>
    below(join(directory, child.name), join(relative, child.name), { ...plan, depth: plan.depth - 1, after }, false)
  const [first, ...rest] = plan.after ?? []
  if (first !== undefined && plan.depth > 1) {
    // The walk before ended below this entry, if it is a directory
    const stats = await lstat(join(directory, first)).catch(() => undefined)
    if (stats?.isDirectory() === true) yield* deeper({ name: first, kind: "directory" }, rest)
  }
  for await (const child of batches(directory, first, plan, isRoot)) {
    yield { ...child, path: join(directory, child.name), relative: join(relative, child.name) }
    if (child.kind === "directory" && plan.depth > 1) yield* deeper(child, [])
  }
}

/** What is below a directory: each directory before what it holds. Symbolic links are not followed. */
export const walk = (directory: string, plan: Plan): AsyncGenerator<Found> => below(Buffer.from(directory), Buffer.alloc(0), plan, true)
