/** What a credential was read together with: most requests about the caller's own user or agent need nothing more of the store. */
import type { Actor } from "./Actor.js"

/** Milliseconds for which what was read counts. A stream's actor lives on, and the store may have something else by then. */
const validity = 1000

export interface ReadWithActor<A> {
  /** Keeps what was read for the request that the actor makes. `at` is in milliseconds since 1970. */
  readonly keep: (actor: Actor, read: () => A, at: number) => void
  /** What was kept, once: the request may change it before it asks again. Undefined where it was not read with the credential. */
  readonly take: (actor: Actor, now: number) => A | undefined
}

/** Empties each place at an actor. */
const empties: Array<(actor: Actor) => void> = []

/** Drops what was read with an actor: a stream keeps its actor for hours. */
export const forget = (actor: Actor): void => {
  for (const empty of empties) empty(actor)
}

/** A place for one kind of object. */
export const make = <A>(): ReadWithActor<A> => {
  // At the actor itself: what a WeakMap holds outlives V8's quick collections, and with it everything of its request
  const place: unique symbol = Symbol("read with the actor")
  type Holder = Actor & { [place]?: { readonly actor: Actor; readonly read: () => A; readonly at: number } | undefined }
  empties.push((actor: Holder) => {
    if (actor[place] !== undefined) actor[place] = undefined
  })
  return {
    keep: (actor: Holder, read, at) => {
      actor[place] = { actor, read, at }
    },
    take: (actor: Holder, now) => {
      const kept = actor[place]
      if (kept === undefined) return undefined
      actor[place] = undefined
      // A copy of the actor has other rights
      return kept.actor === actor && now - kept.at <= validity ? kept.read() : undefined
    }
  }
}
