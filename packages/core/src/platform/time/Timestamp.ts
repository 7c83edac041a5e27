/**
 * Instants as they are written on the wire, in rows and in memory: RFC 3339, UTC, always three fractional digits and `Z`, so that
 * the order of the texts is the order of the instants and no layer converts them.
 */
import { Clock, Duration, Effect, ParseResult, Schema } from "effect"

export const Timestamp = Schema.String.pipe(
  Schema.brand("Timestamp"),
  Schema.annotations({ jsonSchema: { type: "string", format: "date-time" } })
)
export type Timestamp = typeof Timestamp.Type

/** The instant that stands for "never happened" where the wire has no null. identity.md, conventions. */
export const never = Timestamp.make("0001-01-01T00:00:00Z")

/** The instant `millis` milliseconds after 1970-01-01T00:00:00Z. */
export const fromMillis = (millis: number): Timestamp => Timestamp.make(new Date(millis).toISOString(), wellFormed)

/** A text of our own making is not checked again: that takes longer than making it. */
const wellFormed = { disableValidation: true }

/** Milliseconds since 1970-01-01T00:00:00Z. */
export const toMillis = (timestamp: Timestamp): number => Date.parse(timestamp)

/** `timestamp` moved by a duration. */
export const plus = (timestamp: Timestamp, duration: Duration.DurationInput): Timestamp =>
  fromMillis(toMillis(timestamp) + Duration.toMillis(duration))

/** `timestamp` moved back by a duration. */
export const minus = (timestamp: Timestamp, duration: Duration.DurationInput): Timestamp =>
  fromMillis(toMillis(timestamp) - Duration.toMillis(duration))

/** How long after `from` the instant `to` is; zero when it is not. */
export const between = (from: Timestamp, to: Timestamp): Duration.Duration => Duration.millis(Math.max(0, toMillis(to) - toMillis(from)))

/** The present instant of the `Clock`. */
export const now: Effect.Effect<Timestamp> = Effect.map(Clock.currentTimeMillis, fromMillis)

/** The range that four digits of a year can express, and every store holds. */
const earliest = Date.parse("0001-01-01T00:00:00Z")
const latest = Date.parse("9999-12-31T23:59:59.999Z")

/** Whether the calendar has a day; `Date.parse` takes the 30th of February for the 2nd of March. */
const isDay = (text: string): boolean => {
  const millis = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text)
}

/** Characters of an instant: more digits of a second than any clock counts. */
const maximumInstant = 64

/** The instant a client wrote, in any RFC 3339 form of at most 64 characters, or undefined; in UTC it is in the years 1 to 9999. */
export const parse = (text: string): Timestamp | undefined => {
  if (text.length > maximumInstant) return undefined
  if (!/^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(text) || !isDay(text.slice(0, 10))) return undefined
  const millis = Date.parse(text)
  return millis >= earliest && millis <= latest ? fromMillis(millis) : undefined
}

/** An instant in a request: any RFC 3339 form in, the canonical form inside. */
export const TimestampFromInput = Schema.transformOrFail(
  Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } }),
  Timestamp,
  {
    strict: true,
    decode: (text, _options, ast) => {
      const timestamp = parse(text)
      return timestamp === undefined
        ? Effect.fail(new ParseResult.Type(ast, text, "must be an RFC 3339 date-time"))
        : Effect.succeed(timestamp)
    },
    encode: (timestamp) => Effect.succeed(timestamp)
  }
)
