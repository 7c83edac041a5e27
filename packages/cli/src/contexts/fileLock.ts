/**
 * A lock between processes of one machine. Each process that wants it makes a file of its own, with its number in the name, and has the lock if there is
 * no other one. Names are never used again, so a process that removes what another one has left can never remove the lock of a third.
 */
import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, rm, stat, utimes } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Failure } from "../Failure.js"

/** Milliseconds between two looks, and until a waiting process gives up. */
const interval = 50
const patience = 60_000

/** Milliseconds after which a claim that was not touched is left over, whatever process has its number now, and between two touches. */
const leftAfter = 120_000
const touchEvery = 20_000

const isCode = (error: unknown, code: string): boolean => error instanceof Error && "code" in error && error.code === code

const lives = (process_: number): boolean => {
  try {
    process.kill(process_, 0)
    return true
  } catch (error) {
    return !isCode(error, "ESRCH")
  }
}

/** Whether the process of a claim was killed, or has removed its claim. */
const isLeft = async (claim: string, process_: number): Promise<boolean> => {
  if (!lives(process_)) return true
  try {
    return Date.now() - (await stat(claim)).mtimeMs > leftAfter
  } catch (error) {
    if (isCode(error, "ENOENT")) return true
    throw error
  }
}

/** Whether there is a claim beside the own one. Removes those that were left. */
const isHeld = async (path: string, own: string): Promise<boolean> => {
  const prefix = `${basename(path)}.`
  for (const name of await readdir(dirname(path))) {
    const [, process_] = name.startsWith(prefix) ? (/^(\d+)\.[0-9a-f]{16}$/.exec(name.slice(prefix.length)) ?? []) : []
    const claim = join(dirname(path), name)
    if (process_ === undefined || claim === own) continue
    if (!(await isLeft(claim, Number(process_)))) return true
    await rm(claim, { force: true })
  }
  return false
}

/** Of two processes that claim at the same time, each sees the other. Both let go, and try again at another time. */
const take = async (path: string, own: string): Promise<boolean> => {
  if (await isHeld(path, own)) return false
  await (await open(own, "wx", 0o600)).close()
  if (!(await isHeld(path, own))) return true
  await rm(own, { force: true })
  return false
}

const touch = (claim: string): Promise<void> => utimes(claim, new Date(), new Date()).catch(() => {})

/** Works while no other process does so under the same lock. */
export const alone = async <A>(path: string, signal: AbortSignal, work: () => Promise<A>): Promise<A> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const own = `${path}.${process.pid}.${randomBytes(8).toString("hex")}`
  const until = performance.now() + patience
  try {
    while (!(await take(path, own))) {
      signal.throwIfAborted()
      if (performance.now() > until)
        throw new Failure({ message: `${path}: is held by another process.`, hint: "try again in two minutes." })
      await pause(interval * (0.5 + Math.random()), undefined, { signal })
    }
    const touching = setInterval(() => void touch(own), touchEvery).unref()
    try {
      return await work()
    } finally {
      clearInterval(touching)
    }
  } finally {
    await rm(own, { force: true })
  }
}
