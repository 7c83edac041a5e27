/** Several processes that serve one address, for machines with several cores. It loads nothing of the service. */
import cluster from "node:cluster"
import { availableParallelism } from "node:os"
import type { End } from "./messages.js"
import { supervise } from "./supervise.js"
import { makeWorker, takePlace, type Worker } from "./Worker.js"

export type { Activity, Answer, End, WorkerState } from "./messages.js"
export { isPlaced, type Worker } from "./Worker.js"

/** What a process serves, and how it ends. */
export interface Served {
  /** What the first process writes to the standard output, once all workers serve. Default: nothing. */
  readonly greeting?: string
  /** Ends requests and closes the service: within the time of `endWithin`, as the process is killed otherwise. */
  readonly end: (end: End) => Promise<void>
}

export interface Options {
  /** How many processes serve; `auto` is one for each core. With 1, this process serves. */
  readonly workers: number | "auto"
  /** Serves, in each worker: it is called in a process of its own, whose option `worker` of `Atelier.make` it gets. Undefined where one process serves alone. */
  readonly serve: (worker: Worker | undefined) => Promise<Served>
  /** Milliseconds that a worker has to end. Default: 60,000. */
  readonly endWithin?: number
}

/** A process manager runs the program in a cluster of its own, in which it cannot start processes. */
export class ManagedElsewhere extends Error {
  constructor() {
    super("several workers need a program that no process manager runs in a cluster: let it start one process, or set workers to 1")
  }
}

/** Processes of one server at most. */
export const maximumWorkers = 64

/** The number of processes: one for each core that this process may use, for `auto`. */
export const countOf = (workers: number | "auto"): number =>
  workers === "auto" ? Math.min(availableParallelism(), maximumWorkers) : workers

/** Resolves with the first signal; a second one does not wait for what is under way. */
const signalled = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.stdout.write(`${signal}: finishing what is under way; the workspaces keep running\n`)
        for (const again of ["SIGINT", "SIGTERM"] as const) process.once(again, () => process.exit(1))
        resolve(signal)
      })
    }
  })

/**
 * Serves by several processes until SIGINT or SIGTERM, and resolves with the exit code. SIGHUP replaces the workers one after the other, each while the
 * others serve. Each worker runs the program from its beginning, up to this call. Rejects with `ManagedElsewhere`, and with what `serve` rejects with.
 */
export const run = async ({ endWithin = 60_000, serve, workers }: Options): Promise<number> => {
  const count = countOf(workers)
  if (!Number.isInteger(count) || count < 1 || count > maximumWorkers) {
    throw new RangeError(`workers must be auto or a number from 1 to ${maximumWorkers}, not ${String(workers)}`)
  }
  const place = takePlace(process.env)
  if (place !== undefined) {
    // Listens from the start on: the process may be told to end before it serves
    const { ended, leave, serves, worker } = makeWorker(place)
    try {
      const { end, greeting = "" } = await serve(worker)
      serves(greeting)
      await end(await ended)
      await leave()
      return 0
    } finally {
      // The channel to the first process would keep this one from ending by itself, also after a failure
      process.channel?.unref()
    }
  }
  if (count === 1) {
    const { end, greeting = "" } = await serve(undefined)
    // Its reader may send the signal at once
    const ended = signalled()
    process.stdout.write(greeting)
    await end({ signal: await ended, isReplaced: false })
    return 0
  }
  if (cluster.isWorker) throw new ManagedElsewhere()
  // Metrics have values that JSON does not know
  cluster.setupPrimary({ serialization: "advanced" })
  const onRestart = (restart: () => void): void => void process.on("SIGHUP", restart)
  return supervise({ count, ended: signalled(), onRestart, endWithin })
}
