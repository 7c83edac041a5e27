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

it.scoped("the worker with the lowest number of those that serve does the background work, and another one while it starts again", () =>
  Effect.gen(function* () {
    const { become, working } = yield* aServerWith(3)
    expect(yield* working).toEqual([1])
    become("starting")
    expect(yield* working).toEqual([1])
    become("serving", "starting", "starting")
    expect(yield* working).toEqual([1])
    become("serving", "serving", "serving")
    expect(yield* working).toEqual([1])
    become("dead", "serving", "serving")
    expect(yield* working).toEqual([2])
    become("starting", "silent", "serving")
    expect(yield* working).toEqual([3])
    become("serving", "serving", "serving")
    expect(yield* working).toEqual([1])
    become("ending", "dead", "dead")
    expect(yield* working).toEqual([1])
  })
)

it.effect("the states are watched until the scope closes", () =>
  Effect.gen(function* () {
    const { watched } = yield* Effect.scoped(Effect.tap(aServerWith(2), ({ watched }) => Effect.sync(() => expect(watched()).toBe(2))))
    expect(watched()).toBe(0)
  })
)
