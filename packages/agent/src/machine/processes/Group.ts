/** Groups of processes. */
import { constants } from "node:os"
import { Clock, Duration, Effect, Either } from "effect"
import * as ProcessTree from "../../scripts/ProcessTree.js"

/** A name and a value of the environment that no other process has, except those that this one starts. */
export type Mark = readonly [name: string, value: string]

/** Whether a group got a signal: it has processes that are not over. */
export const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean =>
  Either.isRight(Either.try(() => process.kill(-pid, signal)))

export const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

/** The name of a signal. */
export const signalOf = (number: number): string | null =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null

/** How often a group that was asked to end is looked at. */
const lookEvery = Duration.millis(20)

/** The entry of a mark in an environment. */
export const entryOf = ([name, value]: Mark): string => `${name}=${value}`

/** Asks a group whose leader runs to end, kills it after a time, and kills what has left the group. */
const endLed = (pid: number, family: ProcessTree.Family): Effect.Effect<void> =>
  Effect.gen(function* () {
    // No race: where nothing is interrupted, a race waits for its loser too
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(ProcessTree.grace)
    let isThere = signalGroup(pid, "SIGTERM")
    while (isThere && (yield* Clock.currentTimeMillis) < until) {
      yield* Effect.sleep(lookEvery)
      isThere = signalGroup(pid, 0)
    }
    if (isThere) signalGroup(pid, "SIGKILL")
    ProcessTree.kill(family)
  })

/**
 * Ends a process with a mark, and all that it has started. The process is the leader of its group while it runs; once it has ended, its id may be that of a
 * stranger, so the others are found by the mark alone.
 */
export const endGroup = (leader: number | undefined, mark: Mark): Effect.Effect<void> => {
  const family = { root: undefined, isMark: (entry: string) => entry === entryOf(mark) }
  return leader === undefined ? ProcessTree.terminate(family) : endLed(leader, family)
}
