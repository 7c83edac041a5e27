/** What several callers share, made with the first of them, and kept for a while after the last. */
import { Cause, Data, type Duration, Effect, RcMap, type Scope } from "effect"

/** Keys whose last value was not good any more that are remembered one by one. */
const maximumForgotten = 10_000

export interface Kept<K, A, E> {
  /**
   * Uses the value of a key, which stays until the scope closes. Those that come after a value could not be made, or after an error that tells of its end, share a new one.
   */
  readonly use: <B, E2, R>(key: K, use: (value: A) => Effect.Effect<B, E2, R>) => Effect.Effect<B, E | E2, R | Scope.Scope>
}

/** Makes kept values. `isEnd` tells which errors of their users tell that a value has ended. */
export const makeKept = <K extends Readonly<Record<string, string>>, A, E>(
  lookup: (key: K) => Effect.Effect<A, E, Scope.Scope>,
  keptFor: Duration.DurationInput,
  isEnd: (error: unknown) => boolean
): Effect.Effect<Kept<K, A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    // A key with another generation stands for the value after one that has ended. To invalidate the key would also lose the value that others have made since
    const values = yield* RcMap.make({
      idleTimeToLive: keptFor,
      lookup: ({ key }: { readonly key: K; readonly generation: number }) => lookup(key)
    })
    let latest = 0
    /** The generation of keys that are not remembered. */
    let others = 0
    const generations = new Map<string, number>()
    const nameOf = (key: K): string => JSON.stringify(Object.values(key))
    const generationOf = (key: K): number => generations.get(nameOf(key)) ?? others
    const forget = (key: K, generation: number): void => {
      // Another user of it has told before
      if (generationOf(key) !== generation) return
      if (generations.size >= maximumForgotten) {
        generations.clear()
        others = ++latest
      }
      generations.set(nameOf(key), ++latest)
    }
    return {
      use: (key, use) =>
        Effect.suspend(() => {
          const generation = generationOf(key)
          const ended = Effect.sync(() => forget(key, generation))
          const value = Effect.tapErrorCause(RcMap.get(values, Data.struct({ key: Data.struct(key), generation })), (cause) =>
            Cause.isInterruptedOnly(cause) ? Effect.void : ended
          )
          return Effect.flatMap(value, (found) => Effect.tapError(use(found), (error) => (isEnd(error) ? ended : Effect.void)))
        })
    }
  })
