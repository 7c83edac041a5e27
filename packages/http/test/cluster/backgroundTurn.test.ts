import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { backgroundTurn } from "../../src/assembly/processGroup.js"
import type { Activity, WorkerState } from "../../src/cluster/messages.js"

/** The workers of a server, as each of them sees them. */
const aServerWith = (count: number) => {
  let states: ReadonlyArray<WorkerState> = []
  const changed: Array<() => void> = []
  const turns = Array.from({ length: count }, (_, index) =>
    backgroundTurn({ number: index + 1, states: () => states, onStates: (listener) => void changed.push(listener) })
  )
  return {
    become: (...activities: ReadonlyArray<Activity>): void => {
      states = activities.map((activity, index) => ({ number: index + 1, pid: index + 1, activity, since: 0, starts: 1 }))
      for (const told of changed) told()
    },
    /** The numbers of those that do the background work. */
    working: Effect.map(
      Effect.forEach(turns, (turn) => Effect.race(Effect.as(turn, true), Effect.as(Effect.yieldNow(), false))),
      (works) => works.flatMap((does, index) => (does ? [index + 1] : []))
    )
  }
}

it.effect("the first worker that serves does the background work, and another one while it starts again", () =>
  Effect.gen(function* () {
    const { become, working } = aServerWith(3)
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
