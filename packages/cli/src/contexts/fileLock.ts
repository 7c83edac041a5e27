/** A lock between processes of one machine: a file with the number of the process that holds it. */
import { randomBytes } from "node:crypto"
import { mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Failure } from "../Failure.js"

/** Milliseconds between two looks, and until a waiting process gives up. */
const interval = 50
const patience = 60_000

const isCode = (error: unknown, code: string): boolean => error instanceof Error && "code" in error && error.code === code

const take = async (path: string): Promise<boolean> => {
  try {
    const file = await open(path, "wx", 0o600)
    await file.writeFile(String(process.pid))
    await file.close()
    return true
  } catch (error) {
    if (isCode(error, "EEXIST")) return false
    throw error
  }
}

const holderOf = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined)

const lives = (process_: number): boolean => {
  try {
    process.kill(process_, 0)
    return true
  } catch (error) {
    return !isCode(error, "ESRCH")
  }
}

/** Whether the holder was killed. One that has not written its number yet is alive. */
const isLeft = (holder: string | undefined): boolean => holder !== undefined && /^\d+$/.test(holder) && !lives(Number(holder))

/** Removes the lock of a process that is gone. Another process may have replaced it in between: then it comes back. */
const clear = async (path: string): Promise<void> => {
  const aside = `${path}.${randomBytes(8).toString("hex")}`
  await rename(path, aside)
  if (isLeft(await holderOf(aside))) await rm(aside)
  else await rename(aside, path)
}

/** Works while no other process does so under the same lock. */
export const alone = async <A>(path: string, signal: AbortSignal, work: () => Promise<A>): Promise<A> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const until = performance.now() + patience
  while (!(await take(path))) {
    signal.throwIfAborted()
    if (performance.now() > until)
      throw new Failure({ message: `${path}: is held by another process.`, hint: "remove it if there is none." })
    if (isLeft(await holderOf(path))) await clear(path).catch(() => {})
    else await pause(interval, undefined, { signal })
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}
