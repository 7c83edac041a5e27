/** Times of a log's lines, by which clients sort them. */
import { Clock, Effect } from "effect"
import { Timestamp } from "./Timestamp.js"

/** An instant with six fractional digits, in microseconds since 1970. */
const fromMicros = (micros: number): Timestamp => {
  const millis = Math.floor(micros / 1000)
  const text = new Date(millis).toISOString()
  return Timestamp.make(`${text.slice(0, 23)}${String(micros - millis * 1000).padStart(3, "0")}Z`, { disableValidation: true })
}

/** Gives the next line its time. */
export type NextLineTime = () => Timestamp

/** Makes a source of times that starts at the present: each is at least a microsecond later than all that the source has given before. */
export const makeLineTimes = (): Effect.Effect<NextLineTime> => {
  let last = 0
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(last, now * 1000 - 1)
    return () => fromMicros(++last)
  })
}
