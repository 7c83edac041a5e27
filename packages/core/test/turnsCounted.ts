import { Effect, type Scope } from "effect"

/** Calls a function in each turn of the event loop, until the scope closes. */
export const turnsCounted = (turn: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      let isOver = false
      const next = (): void => {
        if (isOver) return
        turn()
        setImmediate(next)
      }
      setImmediate(next)
      return () => void (isOver = true)
    }),
    (end) => Effect.sync(end)
  )
