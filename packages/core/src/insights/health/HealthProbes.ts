import { Clock, Context, Duration, Effect } from "effect"

/** The answer of an address. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Port: how the service reaches itself and its relays from outside. Each fails with a reason in words. */
export class HealthProbes extends Context.Reference<HealthProbes>()("@atelier/core/HealthProbes", {
  defaultValue: (): {
    /** The version that the service tells of itself. */
    readonly version: string
    readonly get: (url: string) => Effect.Effect<Answer, Error>
    /** Sends a text to the echo of `/debug/ws` as the holder of a credential. The status is 101 if it came back. */
    readonly echo: (credential: string | undefined) => Effect.Effect<Answer, Error>
  } => ({
    version: "v0.0.0",
    get: () => Effect.fail(new Error("no addresses can be reached here")),
    echo: () => Effect.fail(new Error("no addresses can be reached here"))
  })
}) {}

/** How long a single check may take. */
export const checkTimeout = Duration.seconds(5)

/** Asks an address of the service or of a relay, and fails with a reason in words if it does not answer in time. */
export const reachThrough =
  (probes: HealthProbes["Type"]) =>
  (url: string): Effect.Effect<Answer, Error> =>
    Effect.timeoutFail(probes.get(url), { duration: checkTimeout, onTimeout: () => new Error("there is no answer within 5 seconds") })

/** Returns the value of an effect, and the milliseconds that it took. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<{ readonly value: A; readonly millis: number }, E, R> =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeNanos
    const value = yield* effect
    return { value, millis: Number((yield* Clock.currentTimeNanos) - begun) / 1e6 }
  })
