/** The background work of one replica, whose store fails once under each kind of it. */
import { Effect } from "effect"
import { chanceOf } from "./Chance.js"
import { makeBus } from "./FaultyBus.js"
import { openStore } from "./FaultyStore.js"
import { leavingNone } from "./Roots.js"
import { startReplica } from "./Replica.js"
import { type Setting, simulatedOptions } from "./Setting.js"
import { makeWorld } from "./World.js"

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
    const chance = chanceOf(1)
    const world = makeWorld(chance, setting.begin)
    const store = yield* openStore(world, setting.content)
    const deployment = {
      world,
      chance,
      store,
      bus: makeBus(world, true),
      isShared: true,
      machines: new Map(),
      applying: new Map(),
      broken: [],
      mails: [],
      messages: [],
      locks: new Map(),
      onLog: undefined
    }
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
