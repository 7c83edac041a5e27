/** What a process of a cluster knows, and how it hears from the process that has started it. */
import cluster from "node:cluster"
import { join } from "node:path"
import { type Answer, type End, isTold, type Place, placeVariable, type Said, type WorkerState } from "./messages.js"

/** One of several processes that serve an address. `Atelier.make` takes it as the option `worker`. */
export interface Worker {
  /** From 1; a process that takes another one's place has its number. The first one that serves does the background work. */
  readonly number: number
  /** The path of a socket of its own, which only the other processes reach. */
  readonly socket: string
  /** All workers, as the process that has started them sees them. */
  readonly states: () => ReadonlyArray<WorkerState>
  /** Calls a function whenever the states have changed, until the function that it returns is called. */
  readonly onStates: (changed: () => void) => () => void
  /** Asks the other workers. One that does not answer within 3 seconds is left out, and all are if the first process does not answer within 5. */
  readonly ask: () => Promise<ReadonlyArray<Answer>>
  /** Says how this one answers the others; a value that can be cloned. */
  readonly answer: (of: () => Promise<unknown>) => void
}

const isPlace = (value: unknown): value is Place =>
  typeof value === "object" && value !== null && "number" in value && typeof value.number === "number" && "directory" in value

/** Whether this process is one of several that `run` has started, before it has begun to serve. */
export const isPlaced = (environment: NodeJS.ProcessEnv): boolean => !cluster.isPrimary && environment[placeVariable] !== undefined

/**
 * The place of this process; undefined for one that serves alone, also one that another program, such as a process manager, has started in a cluster of
 * its own. Programs that this process starts do not get it.
 */
export const takePlace = (environment: NodeJS.ProcessEnv): Place | undefined => {
  const text = environment[placeVariable]
  if (text === undefined || !isPlaced(environment)) return undefined
  delete environment[placeVariable]
  const place: unknown = JSON.parse(text)
  return isPlace(place) ? place : undefined
}

/** Milliseconds until a question, or a farewell, counts as unanswered: more than the first process waits for the others. */
const answeredWithin = 5_000

/** Begins to listen: signals reach all processes of a terminal or a service manager's group, and what counts is what the first process says. */
export const makeWorker = (
  place: Place,
  { within = answeredWithin } = {}
): {
  readonly worker: Worker
  readonly ended: Promise<End>
  readonly serves: (greeting: string) => void
  /** Resolves when no connection is on its way to this process, which has ended to listen: the first process gives those to others. */
  readonly leave: () => Promise<void>
} => {
  let states: ReadonlyArray<WorkerState> = []
  const watchers = new Set<() => void>()
  let answering: (() => Promise<unknown>) | undefined
  let last = 0
  let onLeft = (): void => undefined
  const asked = new Map<number, (answers: ReadonlyArray<Answer>) => void>()
  const say = (message: Said): void => {
    if (process.connected) process.send?.(message)
  }
  const ended = new Promise<End>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined)
    process.on("message", (message: unknown) => {
      if (!isTold(message)) return
      if (message.kind === "end") resolve(message.end)
      else if (message.kind === "states") {
        states = message.states
        for (const changed of watchers) changed()
      } else if (message.kind === "ping") say({ kind: "pong" })
      else if (message.kind === "left") onLeft()
      else if (message.kind === "answers") {
        asked.get(message.id)?.(message.answers)
        asked.delete(message.id)
      } else {
        const { id } = message
        // One that cannot answer says so at once: nothing waits for it
        const value = Promise.resolve(answering?.()).catch(() => undefined)
        void value.then((value) => say({ kind: "answer", id, value }))
      }
    })
    say({ kind: "listens" })
  })
  return {
    ended,
    serves: (greeting) => say({ kind: "serves", greeting }),
    leave: () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, within)
        onLeft = () => {
          clearTimeout(timer)
          resolve()
        }
        say({ kind: "leaves" })
      }),
    worker: {
      number: place.number,
      socket: join(place.directory, `${place.number}-${process.pid}.sock`),
      states: () => states,
      onStates: (changed) => {
        watchers.add(changed)
        return () => void watchers.delete(changed)
      },
      ask: () =>
        new Promise((resolve) => {
          const id = ++last
          // The first process may be stopped, or have gone
          const timer = setTimeout(() => {
            asked.delete(id)
            resolve([])
          }, within)
          asked.set(id, (answers) => {
            clearTimeout(timer)
            resolve(answers)
          })
          say({ kind: "ask", id })
        }),
      answer: (of) => {
        answering = of
      }
    }
  }
}
