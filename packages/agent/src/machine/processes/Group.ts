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

/** Asks a group to end, kills it after a time, and kills what has left the group. */
export const endGroup = (pid: number, [name, value]: Mark): Effect.Effect<void> =>
  Effect.gen(function* () {
    // No race: where nothing is interrupted, a race waits for its loser too
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(ProcessTree.grace)
    signalGroup(pid, "SIGTERM")
    while (signalGroup(pid, 0) && (yield* Clock.currentTimeMillis) < until) yield* Effect.sleep(lookEvery)
    signalGroup(pid, "SIGKILL")
    ProcessTree.kill({ root: undefined, isMark: (entry) => entry === `${name}=${value}` })
  })
