/** The background work of one replica, whose store fails once under each kind of it. */
import { Effect } from "effect"
import { leavingNone } from "./Roots.js"
import { openDeployment, startReplica } from "./Replica.js"
import { type Setting, simulatedOptions } from "./Setting.js"

/** What became of one kind of background work. */
export interface FailedLoop {
  readonly name: string
  /** Milliseconds between the failure and its next statement; undefined where there was none. */
  readonly again: number | undefined
}

/**
 * Runs a replica for a time in milliseconds. The first statement of each kind of background work after the start fails. Returns all kinds that asked
 * the store.
 */
export const failEachLoop = (setting: Setting, millis: number): Effect.Effect<ReadonlyArray<FailedLoop>> =>
  Effect.gen(function* () {
    const deployment = yield* openDeployment({ seed: 1, begin: setting.begin, content: setting.content, isShared: true })
    const { store, world } = deployment
    const failedAt = new Map<string, number>()
    const again = new Map<string, number>()
    let isStarted = false
    store.setFaults((_, _text, work) => {
      if (!isStarted || work === undefined) return undefined
      const at = failedAt.get(work)
      if (at === undefined) {
        failedAt.set(work, world.now())
        return "refused"
      }
      if (!again.has(work) && world.now() > at) again.set(work, world.now() - at)
      return undefined
    })
    const started = (): void => {
      isStarted = true
    }
    startReplica(deployment, "r0", 0, simulatedOptions, { started })
    world.run(() => false, setting.begin + millis)
    return [...failedAt.keys()].toSorted().map((name): FailedLoop => ({ name, again: again.get(name) }))
  }).pipe(Effect.scoped, leavingNone)
