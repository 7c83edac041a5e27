import { type Cause, Effect, Exit, Option } from "effect"
import { storeUnavailable } from "./StoreUnavailable.js"

/** Items that could not be written, and why. */
export interface Unwritten<A> {
  readonly items: ReadonlyArray<A>
  readonly cause: Cause.Cause<never>
}

/**
 * Writes items together. After a write that dies, each half is written alone, and so on: an item that cannot be written keeps no others from it. After so many failures no
 * part is halved any more: a cause that is no item's own would become a write for each. The rest is not written while the store is away, which is the last cause then.
 */
export const writeInHalves = <A>(
  items: ReadonlyArray<A>,
  write: (items: ReadonlyArray<A>) => Effect.Effect<void>,
  maximumFailures: number
): Effect.Effect<ReadonlyArray<Unwritten<A>>> =>
  Effect.gen(function* () {
    const parts = items.length === 0 ? [] : [items]
    const unwritten: Array<Unwritten<A>> = []
    let failures = 0
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const exit = yield* Effect.exit(write(part))
      if (Exit.isSuccess(exit)) continue
      const { cause } = exit
      failures += 1
      const half = part.length >> 1
      if (Option.isSome(storeUnavailable(cause))) unwritten.push({ items: [part, ...parts.splice(0)].flat(), cause })
      else if (half > 0 && failures < maximumFailures) parts.push(part.slice(half), part.slice(0, half))
      else unwritten.push({ items: part, cause })
    }
    return unwritten
  })
