import { Context, Effect, FiberRef } from "effect"

/**
 * The services of the fiber of one request, to which its steps add theirs. Another map for each step would be compared with the one before it, and
 * copied.
 */
export class RequestServices extends Map<string, unknown> {}

/** Runs an effect with services that its fiber mostly has already. Something that was run before may have left the fiber with others. */
export const runWith = <A, E, R>(services: Map<string, unknown>, effect: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) =>
    fiber.currentContext.unsafeMap === services
      ? effect()
      : Effect.flatMap(FiberRef.set(FiberRef.currentContext, Context.unsafeMake(services)), effect)
  )
