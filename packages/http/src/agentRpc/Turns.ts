/**
 * Turns of agents that connect. After the start of a server all its agents come back within a second. Each takes the processor's time and statements until it is stored as
 * connected. If all did so at once, none would be connected before all are, most would have given up by then, and the requests of users would wait as long.
 */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { Unavailable } from "../wire/errors.js"

export interface Limits {
  /** Agents that have their turn at a time. */
  readonly places: number
  /** Milliseconds that an agent waits for its turn before it is refused. */
  readonly waitsFor: number
  /** Milliseconds after which an agent that takes long no longer keeps others out. */
  readonly keptFor: number
}

/** As many as are stored together, and as many that are about to be. More places would not have agents connect sooner. Agents give up an attempt after 15 seconds. */
const usual: Limits = { places: 64, waitsFor: 10_000, keptFor: 5_000 }

interface Waiting {
  readonly begin: () => void
  readonly refuse: (message: string) => void
}

export interface Turns {
  /**
   * Waits for an agent's turn, and returns what ends it; it ends by itself after some seconds. An agent waits once: a newer connection of the same one has an older one
   * refused. Fails when no turn came in time, and when the service ends.
   */
  readonly turnOf: (agent: Uuid.Uuid) => Effect.Effect<() => void, Unavailable>
  /** Refuses all that wait. */
  readonly end: () => void
}

export const makeTurns = ({ keptFor, places, waitsFor }: Limits = usual): Turns => {
  const waiting = new Map<Uuid.Uuid, Waiting>()
  let free = places
  let isScheduled = false

  /** Takes a place, and returns what gives it back. */
  const place = (): (() => void) => {
    let timer: NodeJS.Timeout | undefined
    const leave = (): void => {
      if (timer === undefined) return
      clearTimeout(timer)
      // What the connection keeps to the end
      timer = undefined
      free += 1
      schedule()
    }
    timer = setTimeout(leave, keptFor)
    timer.unref()
    free -= 1
    return leave
  }

  /** One turn begins in each turn of the event loop: without waits for the store, all would follow each other before the loop takes other requests. */
  const schedule = (): void => {
    if (isScheduled || free === 0 || waiting.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const [next] = waiting.values()
      if (next === undefined || free === 0) return
      next.begin()
      schedule()
    })
  }

  return {
    turnOf: (agent) =>
      Effect.async<() => void, Unavailable>((resume) => {
        const stop = (): void => {
          clearTimeout(timer)
          if (waiting.get(agent) === turn) waiting.delete(agent)
        }
        const turn: Waiting = {
          begin: () => {
            stop()
            resume(Effect.succeed(place()))
          },
          refuse: (message) => {
            stop()
            resume(new Unavailable({ message }))
          }
        }
        const timer = setTimeout(() => turn.refuse("Too many agents connect at the same time."), waitsFor)
        timer.unref()
        waiting.get(agent)?.refuse("The agent has opened another connection.")
        waiting.set(agent, turn)
        schedule()
        return Effect.sync(stop)
      }),
    end: () => {
      for (const { refuse } of waiting.values()) refuse("The service is shutting down.")
    }
  }
}
