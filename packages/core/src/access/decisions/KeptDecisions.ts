/**
 * Decisions that hold for a moment: a burst of equal requests is judged once. A decision is dropped when the process hears that anyone's rights have changed in any
 * process, and a second after it began to be judged in any case, so that it never outlives the right by more than a stream does.
 */
import { Effect, type Scope } from "effect"
import { type EventBus, listen } from "../../platform/events/EventBus.js"
import * as Lru from "../../platform/collections/Lru.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
import { rightsChanges } from "../streams/RightsChanges.js"

/** Milliseconds for which a decision holds, counted from before it is judged. */
const lasting = 1_000

/** Milliseconds after which one request judges again, while the others still have the decision: a burst must not judge all at once. */
const renewedAfter = 800

/** Decisions that are kept at a time. */
const capacity = 1_000

export interface KeptDecisions<A> {
  /** The decision about equal requests, if there is one that still holds. Near its end one caller gets none, and should judge. */
  readonly find: (key: string) => A | undefined
  /** The same, for a caller that leaves it to another one to judge near the end. */
  readonly holds: (key: string) => A | undefined
  /**
   * Begins to judge a request, before anything is read that the decision depends on. The result keeps the decision, unless rights have changed
   * in the meantime.
   */
  readonly begin: (key: string) => (decision: A) => void
}

/** Decisions of one kind, none at first. The key names the caller's credential and all else that the decision depends on. */
export const keptDecisions = <A>(): Effect.Effect<KeptDecisions<A>, never, EventBus | Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    let kept = Lru.make<string, { readonly since: number; readonly decision: A; isRenewing: boolean }>(capacity)
    yield* listen(rightsChanges, () => {
      kept = Lru.make(capacity)
    })
    const holds = (found: { readonly since: number; readonly isRenewing: boolean }): boolean => {
      const age = Monotonic.of(clock) - found.since
      return age < renewedAfter || (age < lasting && found.isRenewing)
    }
    return {
      holds: (key) => {
        const found = kept.get(key)
        return found !== undefined && holds(found) ? found.decision : undefined
      },
      find: (key) => {
        const found = kept.get(key)
        if (found === undefined) return undefined
        if (holds(found)) return found.decision
        found.isRenewing = true
        return undefined
      },
      begin: (key) => {
        const since = Monotonic.of(clock)
        // A change replaces the map: what was judged before it is kept in none that is read
        const present = kept
        return (decision) => void present.set(key, { since, decision, isRenewing: false })
      }
    }
  })
