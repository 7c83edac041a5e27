import { field, int32, int53, message, type TypeOf } from "./Protobuf.js"

/** `google.protobuf.Timestamp`: seconds since 1970 UTC, and nanoseconds (0 … 999 999 999) towards the future. */
export const Timestamp = message("google.protobuf.Timestamp", { seconds: field(1, int53), nanos: field(2, int32) })
export type Timestamp = TypeOf<typeof Timestamp>

/** The timestamp of milliseconds since 1970, fractions of a millisecond included. */
export const fromMillis = (millis: number): Timestamp => {
  const whole = Math.floor(millis)
  const seconds = Math.floor(whole / 1000)
  return { seconds, nanos: (whole - seconds * 1000) * 1_000_000 + Math.round((millis - whole) * 1_000_000) }
}

/** Milliseconds since 1970, with the fraction. */
export const toMillis = (timestamp: Timestamp): number => timestamp.seconds * 1000 + timestamp.nanos / 1_000_000
