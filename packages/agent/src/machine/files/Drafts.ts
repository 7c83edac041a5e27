/** Files and directories that are written under another name beside the one that they will have. */
import { randomBytes } from "node:crypto"
import { link, lstat, opendir, rename, rm, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { codeOf, refusal, unlessMissing } from "./FileError.js"

const prefix = ".draft-"

const shape = /^\.draft-[0-9a-f]{24}$/

/** A new name beside a path. */
export const draftBeside = (path: string): string => join(dirname(path), `${prefix}${randomBytes(12).toString("hex")}`)

/** Whether a path is that of a draft. Watchers are not told of drafts. */
export const isDraft = (path: string): boolean => shape.test(basename(path))

/** Removes a draft, if it is still there. */
export const discard = async (draft: string): Promise<void> => {
  await rm(draft, { force: true, recursive: true }).catch(() => undefined)
}

/** Milliseconds without a change after which a draft is one of a writer that was killed: a transfer that carries nothing is broken off long before. */
const staleAfter = 24 * 60 * 60 * 1000

/** Directories that are known to have no stale drafts. */
const swept = new Set<string>()
const maximumSwept = 1000

/**
 * Removes what writers who were killed have left beside a path. A directory is looked through once, as it may be large. The system's time of the last change
 * counts, which no program can set.
 */
export const sweepBeside = async (path: string, now: number): Promise<void> => {
  const directory = dirname(path)
  if (swept.has(directory)) return
  if (swept.size >= maximumSwept) swept.clear()
  swept.add(directory)
  for await (const { name } of await opendir(directory)) {
    if (!shape.test(name)) continue
    const draft = join(directory, name)
    const stats = await unlessMissing(() => lstat(draft))
    if (stats !== undefined && now - stats.ctimeMs > staleAfter) await discard(draft)
  }
}

/** Errors of file systems that have no hard links. */
const withoutLinks = new Set(["EPERM", "EOPNOTSUPP", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"])

const exists = async (path: string): Promise<boolean> => (await unlessMissing(() => lstat(path))) !== undefined

/** Gives a file a name that it takes from no other one. Fails with 409 where the name is taken. */
export const renameToNew = async (from: string, to: string, isFile: boolean): Promise<void> => {
  const taken = () => refusal(409, to, "exists already", "EEXIST")
  if (await exists(to)) throw taken()
  if (!isFile) return rename(from, to)
  try {
    // Unlike rename, link does not replace a file that another program has just made
    await link(from, to)
  } catch (error) {
    const code = codeOf(error) ?? ""
    if (code === "EEXIST") throw taken()
    if (!withoutLinks.has(code)) throw error
    return rename(from, to)
  }
  await unlink(from)
}

const turns = new Map<string, Promise<unknown>>()

/** Runs changes of one path one after the other, so that of two writers who expect the same version one is refused. */
export const inTurn = async <A>(path: string, run: () => Promise<A>): Promise<A> => {
  const before = turns.get(path) ?? Promise.resolve()
  const turn = before.then(run, run)
  const settled = turn.catch(() => undefined)
  turns.set(path, settled)
  try {
    return await turn
  } finally {
    if (turns.get(path) === settled) turns.delete(path)
  }
}
