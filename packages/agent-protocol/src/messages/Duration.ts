import { Duration as EffectDuration } from "effect"
import { field, int32, int53, message, type TypeOf } from "./Protobuf.js"

/** `google.protobuf.Duration`: seconds and nanoseconds, of the same sign. */
export const Duration = message("google.protobuf.Duration", { seconds: field(1, int53), nanos: field(2, int32) })
export type Duration = TypeOf<typeof Duration>

export const fromMillis = (millis: number): Duration => {
  const seconds = Math.trunc(millis / 1000)
  return { seconds, nanos: Math.round((millis - seconds * 1000) * 1_000_000) }
}

/** Milliseconds, with the fraction; negative for a negative duration. */
export const toMillis = (duration: Duration): number => duration.seconds * 1000 + duration.nanos / 1_000_000

/** The same time span; zero for a negative one, which Effect's durations do not know. */
export const toDuration = (duration: Duration): EffectDuration.Duration => EffectDuration.millis(toMillis(duration))
