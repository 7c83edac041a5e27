import { Deferred, Effect, type Scope } from "effect"

/**
 * Returns what makes a value at its first use and then answers it, or its failure. The first caller may go before its end: the value is made for all
 * callers, and until the scope closes. `Effect.cached` would answer the others that they were interrupted.
 */
export const madeOnce = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>, never, Scope.Scope> =>
  Effect.scopeWith((scope) =>
    Effect.map(Deferred.make<A, E>(), (made) => {
      let hasBegun = false
      return Effect.uninterruptibleMask((restore) => {
        if (hasBegun) return restore(Deferred.await(made))
        hasBegun = true
        const making = Effect.intoDeferred(Effect.interruptible(make), made)
        return Effect.zipRight(Effect.forkIn(making, scope), restore(Deferred.await(made)))
      })
    })
  )
