import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { limitOf, Refused } from "../Route.js"

/** Processes that may run at a time where the server names no limit. */
const usualProcesses = 256

/** Counts the processes that callers of the API have running. */
export interface Occupancy {
  /** Takes the place of a process. Returns what gives it back, once. Fails with the server's limit if no place is free. */
  readonly take: (request: IncomingMessage) => Effect.Effect<() => void, Refused>
}

export const make = (): Occupancy => {
  let running = 0
  return {
    take: (request) =>
      Effect.suspend(() => {
        const most = limitOf(request, "x-limit-processes", usualProcesses)
        if (running >= most) {
          return new Refused({ status: 429, message: `At most ${most} processes may run at a time. End one, or wait for the end of one.` })
        }
        running += 1
        let isTaken = true
        return Effect.succeed(() => {
          if (isTaken) running -= 1
          isTaken = false
        })
      })
  }
}
