import { Context, Deferred, Effect, Layer } from "effect"

/** The end of the service: everything that lasts, such as a socket, ends by itself when it begins. */
export class Draining extends Context.Tag("@atelier/http/Draining")<
  Draining,
  {
    readonly begin: Effect.Effect<void>
    /** Completes when the end has begun. */
    readonly begun: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(Deferred.make<void>(), (deferred) => ({
      begin: Effect.asVoid(Deferred.succeed(deferred, undefined)),
      begun: Deferred.await(deferred)
    }))
  )
}
