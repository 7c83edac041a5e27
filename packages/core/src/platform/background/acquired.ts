import { Effect, Scope } from "effect"

/**
 * Begins something that its result ends, until the scope closes. `Effect.acquireRelease` keeps a copy of the fiber's references for each release, which takes
 * a kilobyte.
 */
export const acquired = (begin: () => () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.uninterruptible(Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(begin()))))
