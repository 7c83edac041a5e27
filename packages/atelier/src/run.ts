/** The standalone server as a program: alone, as one of several workers, or as the process that watches over them. */
import * as Cluster from "@atelier/http/cluster"
import { Duration } from "effect"
import { calledAs } from "./called.js"
import * as startFlags from "./startFlags.js"
import { explained } from "./explained.js"
import { help, type Options, parseOptions, UsageError } from "./Options.js"
import { outliveReaders } from "./outliveReaders.js"
import { printed } from "./printed.js"
import { placeOf, shareSetupToken, withPlace } from "./worker.js"

/** The service itself, which the process that only watches over others does not load. */
const load = () => import("./serve.js")

/** Milliseconds that a worker may take longer to end than its options say: it is busy, or the machine is. */
const endSlack = 10_000

const serving = async (options: Options): Promise<number> => {
  const isFirst = !Cluster.isPlaced(process.env)
  if (isFirst) for (const warning of options.warnings) process.stderr.write(`${warning}\n`)
  if (isFirst && options.workers > 1) {
    startFlags.end()
    shareSetupToken(process.env)
  }
  return Cluster.run({
    workers: options.workers,
    endWithin: Duration.toMillis(Duration.sum(options.drainGrace, options.shutdownTimeout)) + endSlack,
    serve: async (worker) => {
      const place = placeOf(options, worker)
      const { serve } = await load()
      return serve(withPlace(options, worker?.number ?? 1), place)
    }
  }).catch((error: unknown) => {
    if (!(error instanceof Cluster.ManagedElsewhere)) throw error
    throw new UsageError(
      "--workers is for a server that no other process manager runs in a cluster: leave it out, or start the server directly"
    )
  })
}

/** Serves with the options of a command line until a signal asks to end, and returns the exit code. */
export const run = async (words: ReadonlyArray<string>): Promise<number> => {
  outliveReaders()
  try {
    const options = parseOptions(words, process.env)
    if (options === "help") return await printed(help(calledAs(process.env)))
    return await ("yaml" in options ? printed(options.yaml) : serving(options))
  } catch (error) {
    process.stderr.write(`${explained(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
