import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { backgroundTurn } from "../../src/assembly/processGroup.js"
import type { Activity, WorkerState } from "../../src/cluster/messages.js"

/** The workers of a server, as each of them sees them. */
const aServerWith = Effect.fn(function* (count: number) {
  let states: ReadonlyArray<WorkerState> = []
  const changed = new Set<() => void>()
  const onStates = (listener: () => void) => {
    changed.add(listener)
    return () => void changed.delete(listener)
  }
  const turns = yield* Effect.forEach(Array.from({ length: count }), (_, index) =>
    backgroundTurn({ number: index + 1, states: () => states, onStates })
  )
  return {
    become: (...activities: ReadonlyArray<Activity>): void => {
      states = activities.map((activity, index) => ({ number: index + 1, pid: index + 1, activity, since: 0, starts: 1 }))
      for (const told of changed) told()
    },
    /** The numbers of those that do the background work. */
    working: Effect.map(
      Effect.forEach(turns, ({ here, isHere }) =>
        Effect.map(Effect.race(Effect.as(here, true), Effect.as(Effect.yieldNow(), false)), (works) => works && isHere())
      ),
      (works) => works.flatMap((does, index) => (does ? [index + 1] : []))
    ),
    watched: () => changed.size
  }
})

const courses: ReadonlyArray<readonly [states: ReadonlyArray<Activity>, working: number]> = [
  [[], 1],
  [["starting"], 1],
  [["serving", "starting", "starting"], 1],
  [["serving", "serving", "serving"], 1],
  [["dead", "serving", "serving"], 2],
  [["starting", "silent", "serving"], 3],
  [["serving", "serving", "serving"], 1],
  [["ending", "dead", "dead"], 1]
]

it.scoped("the worker with the lowest number of those that serve does the background work, and another one while it starts again", () =>
  Effect.gen(function* () {
    const { become, working } = yield* aServerWith(3)
    for (const [states, number] of courses) {
      become(...states)
      expect([states, yield* working]).toEqual([states, [number]])
    }
  })
)

it.effect("the states are watched until the scope closes", () =>
  Effect.gen(function* () {
    const { watched } = yield* Effect.scoped(Effect.tap(aServerWith(2), ({ watched }) => Effect.sync(() => expect(watched()).toBe(2))))
    expect(watched()).toBe(0)
  })
)
