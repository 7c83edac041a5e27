/** Turns of others between the pieces of work on a template, however long each piece takes. */
import { nextTurn } from "@atelier/core/platform"
import { Clock, Effect } from "effect"

/** Milliseconds of work between two turns of others. */
const turn = 10

/** Run between two pieces of work: lets others have their turn if the pieces since their last one have taken 10 ms. */
export type Pace = Effect.Effect<void>

export const makePace: Effect.Effect<Pace> = Effect.map(Clock.currentTimeMillis, (now) => {
  let begunAt = now
  const begin = Effect.map(Clock.currentTimeMillis, (later) => {
    begunAt = later
  })
  return Effect.flatMap(Clock.currentTimeMillis, (later) => (later - begunAt < turn ? Effect.void : Effect.zipRight(nextTurn, begin)))
})
