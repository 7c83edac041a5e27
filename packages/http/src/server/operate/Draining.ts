import { Bag, type Bagged, service } from "@atelier/core/platform"
import { Context, Deferred, Effect } from "effect"

interface Listener extends Bagged {
  readonly listen: () => void
}

/** The end of the service, in two steps: it leaves, while requests are answered as before; then everything that lasts ends by itself. */
export class Draining extends Context.Tag("@atelier/http/Draining")<
  Draining,
  {
    /** Takes the service out of rotation. */
    readonly leave: Effect.Effect<void>
    /** Whether the service is on its way out, so that proxies are to send no more requests. Asked for each answer of `/readyz`. */
    readonly isLeaving: Effect.Effect<boolean>
    /** Whether readiness was ever asked for: a proxy then has to learn that the service leaves. */
    readonly isWatched: Effect.Effect<boolean>
    readonly begin: Effect.Effect<void>
    /** Completes when the end has begun. */
    readonly begun: Effect.Effect<void>
    /** Calls a listener once when the end begins, or now if it has begun; until the function that it returns is called. */
    readonly onBegin: (listener: () => void) => () => void
  }
>() {
  static readonly layer = service(
    Draining,
    Effect.map(Deferred.make<void>(), (deferred) => {
      let isLeaving = false
      let isWatched = false
      let hasBegun = false
      const listeners = new Bag<Listener>()
      const leave = Effect.sync(() => {
        isLeaving = true
      })
      const begin = Effect.sync(() => {
        hasBegun = true
        Deferred.unsafeDone(deferred, Effect.void)
        // A stream may leave while a listener ends it
        const told = Array.from(listeners)
        for (const listener of told) if (listeners.delete(listener)) listener.listen()
      })
      return {
        leave,
        isLeaving: Effect.sync(() => {
          isWatched = true
          return isLeaving
        }),
        isWatched: Effect.sync(() => isWatched),
        begin: Effect.zipRight(leave, begin),
        begun: Deferred.await(deferred),
        onBegin: (listen) => {
          const listener = { listen, place: -1 }
          if (hasBegun) listen()
          else listeners.add(listener)
          return () => void listeners.delete(listener)
        }
      }
    })
  )
}
