import { Context, Deferred, Effect, Layer } from "effect"

/** The end of the service, in two steps: it leaves, while requests are answered as before; then everything that lasts ends by itself. */
export class Draining extends Context.Tag("@atelier/http/Draining")<
  Draining,
  {
    /** Takes the service out of rotation. */
    readonly leave: Effect.Effect<void>
    /** Whether the service is on its way out, so that proxies are to send no more requests. */
    readonly isLeaving: Effect.Effect<boolean>
    readonly begin: Effect.Effect<void>
    /** Completes when the end has begun. */
    readonly begun: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(Deferred.make<void>(), (deferred) => {
      let isLeaving = false
      const leave = Effect.sync(() => {
        isLeaving = true
      })
      return {
        leave,
        isLeaving: Effect.sync(() => isLeaving),
        begin: Effect.zipRight(leave, Effect.asVoid(Deferred.succeed(deferred, undefined))),
        begun: Deferred.await(deferred)
      }
    })
  )
}
