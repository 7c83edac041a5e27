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

/** Gives the next line its time. */
export type NextLineTime = () => Timestamp

/** Makes a source of times that starts at the present: each is at least a microsecond later than all that the source has given before. */
export const makeLineTimes = (): Effect.Effect<NextLineTime> => {
  let last = 0
  const fromMicros = makeWriter()
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(last, now * 1000 - 1)
    return () => fromMicros(++last)
  })
}
