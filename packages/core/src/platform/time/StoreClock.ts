/**
 * A clock that goes with the store's. Leases, heartbeats and due times are compared among processes, whose own clocks differ: what one of them
 * stores must mean the same instant to all.
 */
import { Clock, Context, DefaultServices, type Duration, Effect, Option, type Scope } from "effect"
import * as Timestamp from "./Timestamp.js"

const following: unique symbol = Symbol.for("@atelier/core/StoreClock")

export interface StoreClock extends Clock.Clock {
  /** Sets the clock by the store's, which showed `millis` when this one's monotonic time was `nanos`. Returns the correction in milliseconds. */
  readonly [following]: (millis: number, nanos: bigint) => number
}

/** Milliseconds of difference that are left alone: the way of a question and its answer takes as long. */
const tolerance = 250

/** Nanoseconds after which an answer says too little of the time at which it was given, and how often the store is asked again then. */
const slowAnswer = 1_000_000_000n
const maximumRepetitions = 2

/** Milliseconds from which a correction is logged. */
const logged = 2_000

/**
 * Makes a clock that is the given one until it is aligned. From then on only the monotonic time of the given clock counts, so that a
 * process whose clock is set forward does not take others for dead. A clock of a host is aligned once: the host may move it.
 */
export const make = (base: Clock.Clock, options: { readonly isOfHost: boolean }): StoreClock => {
  let anchor: { readonly millis: number; readonly nanos: bigint } | undefined
  const at = (nanos: bigint): number =>
    anchor === undefined ? base.unsafeCurrentTimeMillis() : anchor.millis + Number(nanos - anchor.nanos) / 1_000_000
  const unsafeCurrentTimeMillis = (): number =>
    Math.floor(anchor === undefined ? base.unsafeCurrentTimeMillis() : at(base.unsafeCurrentTimeNanos()))
  // What a clock has beyond reading it, such as the moves of a clock for tests, stays at hand
  return Object.assign(Object.create(base), {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis,
    unsafeCurrentTimeNanos: () => base.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    currentTimeNanos: base.currentTimeNanos,
    sleep: (duration: Duration.Duration) => base.sleep(duration),
    [following]: (millis: number, nanos: bigint) => {
      if (options.isOfHost && anchor !== undefined) return 0
      const own = at(nanos)
      const difference = millis - own
      const correction = Math.abs(difference) > tolerance ? difference : 0
      anchor = { millis: own + correction, nanos }
      return correction
    }
  } satisfies StoreClock)
}

/**
 * Has the fibers of a scope go by a clock that follows the store's, made of the given one or of the one in force. Any but the machine's is a clock of the
 * host, such as one for tests.
 */
export const inForce = (own?: Clock.Clock): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.clock, (before) => {
    const isOfHost = own !== undefined || before !== Context.get(DefaultServices.liveServices, Clock.Clock)
    return Effect.withClockScoped(make(own ?? before, { isOfHost }))
  })

const isStoreClock = (clock: Clock.Clock): clock is StoreClock => following in clock

/**
 * Aligns the clock in force with the store's, if it is one that follows, and returns the correction in milliseconds. `storeTime` reads the store's
 * clock, and answers None where no other process shares the store.
 */
export const align = (storeTime: Effect.Effect<Option.Option<Timestamp.Timestamp>>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    if (!isStoreClock(clock)) return 0
    let asked = clock.unsafeCurrentTimeNanos()
    let answer = yield* storeTime
    let answered = clock.unsafeCurrentTimeNanos()
    for (let repeated = 0; repeated < maximumRepetitions && answered - asked > slowAnswer; repeated++) {
      asked = clock.unsafeCurrentTimeNanos()
      answer = yield* storeTime
      answered = clock.unsafeCurrentTimeNanos()
    }
    if (Option.isNone(answer)) return 0
    const aligned = clock[following](Timestamp.toMillis(answer.value), asked + (answered - asked) / 2n)
    if (Math.abs(aligned) < logged) return aligned
    const seconds = Math.round(Math.abs(aligned) / 1_000)
    yield* Effect.logWarning(
      `the clock of this process is ${seconds} seconds ${aligned < 0 ? "ahead of" : "behind"} the store's, which counts from now on`
    )
    return aligned
  })
