/** Commands of the program that work with the options of `serve`. */
import { Cause, Runtime } from "effect"
import { calledAs } from "./called.js"
import { explained } from "./explained.js"
import { type Options, parseOptions, UsageError } from "./Options.js"
import { printed } from "./printed.js"

/** What a command is called with, and what it does. */
export interface OnDatabase {
  /** The command as it is written, such as `reset-password USER`. */
  readonly usage: string
  /** What its help says. */
  readonly help: string
  /** Returns the exit code. */
  readonly run: (options: Options) => Promise<number>
}

/** The failure of an effect that a command ran. */
const failureOf = (error: unknown): unknown => (Runtime.isFiberFailure(error) ? Cause.squash(error[Runtime.FiberFailureCauseId]) : error)

/** Reads the options, runs the command, and returns the exit code. */
export const onDatabase = async (words: ReadonlyArray<string>, { help, run, usage }: OnDatabase): Promise<number> => {
  try {
    const options = parseOptions(words, process.env)
    if (options !== "help" && !("yaml" in options)) return await run(options)
    const called = calledAs(process.env)
    return await printed(
      options === "help"
        ? `Usage: ${called} ${usage} [options]\n\n${help}\n\nThe options are those of the server, such as --database and --config: ${called} serve --help lists them.\n`
        : options.yaml
    )
  } catch (error) {
    const [word] = usage.split(" ")
    process.stderr.write(`${explained(failureOf(error), `${word} has failed`)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
