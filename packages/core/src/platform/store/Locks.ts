import { Context, Effect, Option } from "effect"

/** Mutual exclusion among all processes that share a store. */
export class Locks extends Context.Tag("@atelier/core/Locks")<
  Locks,
  {
    /** Runs the effect while holding the named lock. Returns None if the lock is taken. Never waits. */
    readonly tryWith: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
  }
>() {}
