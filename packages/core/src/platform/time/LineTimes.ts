/** Times of a log's lines, by which clients sort them. */
import { Clock, Effect } from "effect"
import { Timestamp } from "./Timestamp.js"

/** Writes instants with six fractional digits, in microseconds since 1970. Those of one millisecond begin alike, and lines come many at once. */
const makeWriter = (): ((micros: number) => Timestamp) => {
  let written = Number.NaN
  let text = ""
  return (micros) => {
    const millis = Math.floor(micros / 1000)
    if (millis !== written) text = new Date(millis).toISOString().slice(0, 23)
    written = millis
    return Timestamp.make(`${text}${String(micros - millis * 1000).padStart(3, "0")}Z`, { disableValidation: true })
  }
}

/** The times of lines that arrive together, by their index: the first is given, and each of the others is a microsecond later than the one before. */
export const timesFrom = (first: Timestamp): ((line: number) => Timestamp) => {
  const fromMicros = makeWriter()
  const start = Date.parse(`${first.slice(0, 19)}Z`) * 1000 + Number(first.slice(20, -1).padEnd(6, "0"))
  return (line) => (line === 0 ? first : fromMicros(start + line))
}

/** Gives the next line its time, or the first of some that arrive together. */
export type NextLineTime = (lines?: number) => Timestamp

/** Makes a source of times that starts at the present: each is at least a microsecond later than all that the source has given before. */
export const makeLineTimes = (): Effect.Effect<NextLineTime> => {
  let last = 0
  const fromMicros = makeWriter()
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(last, now * 1000 - 1)
    return (lines = 1) => {
      const first = last + 1
      last += lines
      return fromMicros(first)
    }
  })
}
