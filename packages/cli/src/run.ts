/** Runs a command line, from its words to the exit code. */
import { readAddress } from "./access/address.js"
import { commands, globals, sections } from "./commands.js"
import type { Parsed } from "./command/parse.js"
import { parse } from "./command/parse.js"
import { isGroup } from "./command/Command.js"
import { configDirectory, type Contexts, makeContexts } from "./contexts/Contexts.js"
import { keyStoreOf } from "./contexts/KeyStore.js"
import { exitCodes, Failure, failureOf, type Hints, Interrupted, writeFailure } from "./Failure.js"
import { makeSession, type Session } from "./Session.js"
import { type Format, makeOutput } from "./terminal/Output.js"
import { makePrompts } from "./terminal/Prompts.js"
import { plain } from "./terminal/text.js"

/** The environment and the streams of a command line. */
export type Surroundings = Pick<NodeJS.Process, "env" | "stdin" | "stdout" | "stderr">

export interface RunOptions {
  /** The word that starts the program, for its help and messages; default `atelier`. */
  readonly name?: string | undefined
}

/** What the environment and the words together ask for in every command. */
interface Global {
  readonly output: Format | undefined
  readonly quiet: boolean
  readonly debug: boolean
  readonly url: string | undefined
  readonly context: string | undefined
}

/** A token of the environment was refused: another login would not be used. */
const tokenRefused: Hints = { 401: "set ATELIER_TOKEN to a valid token, or unset it to use a login." }

interface Explaining {
  readonly program: string
  readonly hints: Hints
  readonly isDebug: boolean
}

const explained = (error: unknown, { hints, isDebug, program }: Explaining): string => {
  const { details, hint, message } = failureOf(error, program, hints)
  const [first = "", ...more] = message.split("\n")
  const lines = [`Error: ${plain(first)}`, ...[...more, ...details].map((line) => `  ${plain(line)}`)]
  if (hint !== undefined) lines.push(`To do: ${hint}`)
  if (isDebug && error instanceof Error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) lines.push(cause.stack ?? cause.message)
  }
  return `${lines.join("\n")}\n`
}

/** Aborts with the first interruption. A second one does not wait for what is under way. */
const interruptions = () => {
  const controller = new AbortController()
  let isSecond = false
  const interrupt = (name: NodeJS.Signals): void => {
    if (isSecond) process.exit(exitCodes.interrupted)
    isSecond = true
    controller.abort(new Interrupted(undefined, name))
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt)
  return {
    signal: controller.signal,
    end: () => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, interrupt)
    }
  }
}

interface Ground {
  readonly program: string
  readonly signal: AbortSignal
  readonly contexts: Contexts
}

const sessionOf = ({ global }: Parsed, ground: Ground, { env, stderr, stdin, stdout }: Surroundings): Session => {
  // Read by the table of flags
  const { context, debug, output = "table", quiet, url } = global as unknown as Global
  return makeSession({
    ...ground,
    env,
    stdin,
    stdout,
    stderr,
    url: url === undefined ? undefined : readAddress(url),
    context,
    out: makeOutput({ env, format: output, isQuiet: quiet, isDebug: debug, stdout, stderr }),
    ask: makePrompts(stdin, stderr, ground.signal)
  })
}

const printHelp = async (path: ReadonlyArray<string>, entry: ReturnType<typeof entryOf>, program: string): Promise<string> => {
  const { commandHelp, groupHelp, overview } = await import("./command/help.js")
  const whole = [program, ...path]
  if (entry === undefined) return overview(program, commands, sections, globals)
  return isGroup(entry) ? groupHelp(entry, whole) : commandHelp(entry, whole, globals)
}
const entryOf = (entry: (typeof commands)[number] | undefined) => entry

/** Waits until what was written has left. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve()
    else stream.write("", () => resolve())
  })

/** Runs a command line in these surroundings. Signals reach it from the process. */
export const runIn = async (surroundings: Surroundings, argv: ReadonlyArray<string>, program: string): Promise<number> => {
  const { env, stderr, stdout } = surroundings
  const { signal, end } = interruptions()
  const contexts = makeContexts(configDirectory(env), keyStoreOf(env))
  const isDebug = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--debug")
  /** Ends the program whose output is lost. A reader that goes away, such as `head`, wants no more of it. */
  const leave = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") process.exit(exitCodes.ok)
    stderr.write(explained(writeFailure(error, "standard output"), { program, hints: {}, isDebug }))
    process.exit(exitCodes.failed)
  }
  stdout.on("error", leave)
  let failureCode: number = exitCodes.failed
  try {
    const parsed = parse(argv, commands, globals, { env, program })
    if (!("command" in parsed)) {
      const text = await printHelp(parsed.path, parsed.entry, program)
      if (parsed.isAsked) stdout.write(text)
      else stderr.write(text)
      return parsed.isAsked ? exitCodes.ok : exitCodes.usage
    }
    if (parsed.command.words !== undefined) failureCode = exitCodes.noCommand
    return (await parsed.command.run(parsed.input, sessionOf(parsed, { program, signal, contexts }, surroundings))) ?? exitCodes.ok
  } catch (error) {
    const { reason }: { readonly reason?: unknown } = signal
    if (error instanceof Interrupted || (signal.aborted && (error === reason || !(error instanceof Failure)))) {
      if (error instanceof Interrupted && error.note !== undefined) stderr.write(`${error.note}\n`)
      return exitCodes.interrupted
    }
    stderr.write(explained(error, { program, hints: (env["ATELIER_TOKEN"] ?? "") === "" ? {} : tokenRefused, isDebug }))
    const { code } = failureOf(error, program)
    return failureCode === exitCodes.noCommand && code !== exitCodes.usage ? failureCode : code
  } finally {
    await contexts.settled()
    end()
    await flushed(stdout)
    // A file tells of a failure after this program would have ended
    if (stdout.errored !== null && stdout.errored !== undefined) leave(stdout.errored)
    stdout.off("error", leave)
  }
}

/** Runs a command line without the names of Node and the script, and returns the exit code. */
export const run = (argv: ReadonlyArray<string>, { name = "atelier" }: RunOptions = {}): Promise<number> => runIn(process, argv, name)
