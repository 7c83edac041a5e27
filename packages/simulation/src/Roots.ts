/**
 * The fibers that Effect keeps as roots until they end. A killed process ends none of its fibers, so each would keep its replica, and with it the whole
 * history, for as long as the machine's process lives.
 */
import { Effect, type Fiber, GlobalValue } from "effect"

interface FiberScope {
  readonly roots: Set<Fiber.RuntimeFiber<unknown, unknown>>
}

/** Effect's own scope of roots. Its module is internal, and its key is that by which several copies of Effect share it. */
const { roots } = GlobalValue.globalValue<FiberScope>(Symbol.for("effect/FiberScope/Global"), () => ({ roots: new Set() }))

/** Runs an effect, and then forgets the fibers that it has left behind. */
export const leavingNone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const before = new Set(roots)
    const forget = Effect.sync(() => {
      for (const root of roots) if (!before.has(root)) roots.delete(root)
    })
    return Effect.ensuring(effect, forget)
  })
