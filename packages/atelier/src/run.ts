/** The standalone server as a program: alone, as one of several processes, or as the one that watches over them. */
import cluster from "node:cluster"
import { calledAs } from "./called.js"
import * as startFlags from "./startFlags.js"
import { explained, help, parseOptions, UsageError } from "./Options.js"
import { outliveReaders } from "./outliveReaders.js"
import { supervise } from "./supervise.js"
import { numberOf, placeOf, shareSetupToken, withPlace } from "./worker.js"

/** The service itself, which the process that only watches over others does not load. */
const load = () => import("./serve.js")

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

/** Serves with the options of a command line until a signal asks to end, and returns the exit code. */
export const run = async (words: ReadonlyArray<string>): Promise<number> => {
  outliveReaders()
  try {
    const options = parseOptions(words, process.env)
    const number = numberOf(process.env)
    if (options === "help") process.stdout.write(help(calledAs(process.env)))
    else if ("yaml" in options) process.stdout.write(options.yaml)
    else if (number !== undefined) {
      const place = placeOf(options, number)
      const { serve } = await load()
      await serve(withPlace(options, number), place)
    } else {
      for (const warning of options.warnings) process.stderr.write(`${warning}\n`)
      if (options.processes > 1 && cluster.isWorker) {
        throw new UsageError(
          "--processes is for a server that no other process manager runs in a cluster: leave it out, or start the server directly"
        )
      }
      if (options.processes > 1) {
        startFlags.end()
        shareSetupToken(process.env)
        return await supervise(options.processes, signalled())
      }
      const { serve } = await load()
      await serve(options, {
        internal: undefined,
        setupToken: undefined,
        ready: (greeting) => {
          // Its reader may send the signal at once
          const signal = signalled()
          process.stdout.write(greeting)
          return signal
        }
      })
    }
    return 0
  } catch (error) {
    process.stderr.write(`${explained(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
