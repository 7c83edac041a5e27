import { Effect, type Scope } from "effect"
import * as Loop from "../Loop.js"

/** A fiber that sends what others gather, in its own time. */
export interface Sender {
  /** There is something to send. */
  readonly wake: () => void
  /** Sends without gathering any longer; completes when nothing is left. */
  readonly drain: Effect.Effect<void>
}

/** Once woken, lets things gather, then sends until nothing is left. What `send` gives up it must have removed itself. */
export const make = (options: {
  readonly hasWork: () => boolean
  readonly gather: Effect.Effect<void>
  readonly send: Effect.Effect<void>
}): Effect.Effect<Sender, never, Scope.Scope> =>
  Effect.gen(function* () {
    const woken = yield* Effect.makeLatch()
    const hurried = yield* Effect.makeLatch()
    const idle = yield* Effect.makeLatch(true)

    const round = Effect.gen(function* () {
      yield* woken.await
      yield* Effect.raceFirst(options.gather, hurried.await)
      while (options.hasWork()) yield* options.send
      woken.unsafeClose()
      idle.unsafeOpen()
    })
    yield* Loop.start("sending to the server", round)

    return {
      wake: () => {
        idle.unsafeClose()
        woken.unsafeOpen()
      },
      drain: Effect.zipRight(hurried.open, idle.await)
    }
  })
