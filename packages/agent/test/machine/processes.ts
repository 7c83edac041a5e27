/** Processes of the machine, by their ids. */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The number in a file, once it is there. */
export const numberIn = (file: string): Effect.Effect<number> =>
  Effect.flatMap(
    Effect.promise(() => readFile(file, "utf8").catch(() => "")),
    (text) => (text.endsWith("\n") ? Effect.succeed(Number(text)) : Effect.delay(numberIn(file), "10 millis"))
  )

export const untilGone = (pid: number): Effect.Effect<void> =>
  Effect.suspend(() => (isAlive(pid) ? Effect.delay(untilGone(pid), "10 millis") : Effect.void))
