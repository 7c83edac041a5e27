/** The agent as a program: reads its command line and environment, and runs until a signal ends it. */
import { constants, homedir } from "node:os"
import { parseArgs } from "node:util"
import { Cause, Effect, Either, Fiber, Logger, LogLevel } from "effect"
import * as Agent from "./Agent.js"
import { type AgentConfig, fromEnvironment, InvalidConfig } from "./AgentConfig.js"
import * as StartNotices from "./connection/StartNotices.js"
import * as GitAskpass from "./environment/GitAskpass.js"
import * as PlacedFiles from "./environment/PlacedFiles.js"
import * as Marks from "./scripts/Marks.js"
import * as ProcessTree from "./scripts/ProcessTree.js"
import * as StartFlags from "./StartFlags.js"
import { version } from "./Version.js"

const usage = `Usage: atelier-agent [--environment-prefix PREFIX] [--brand BRAND] [git-askpass PROMPT | place ARCHIVE [DIRECTORY]]

Runs the workspace agent until it gets SIGTERM, SIGINT or SIGHUP; then SIGINT (Ctrl-C) ends it at once.
With git-askpass, answers a question of git for a user name or password.
With place, writes the files of a template's archive into a directory, the home directory unless one is given.

  --version                   prints the agent's version
  --help                      prints this text

  PREFIX_AGENT_URL            address of the server
  PREFIX_AGENT_TOKEN          the agent's token, or PREFIX_AGENT_TOKEN_FILE a file that holds it
  PREFIX_AGENT_BRAND          the product's word in header names, like --brand
  PREFIX_AGENT_LOG_DIRECTORY  where log files with a relative path are written
  PREFIX_AGENT_OUTAGE_FILE    where it is reported after 30 s that the server cannot be reached
  PREFIX_AGENT_FILES          an archive of files that are written into the home directory first
  PREFIX_AGENT_TELL_START     "true" tells on the standard output how the first way to the server goes
  PREFIX_AGENT_VERBOSE        "true" adds lines for debugging to the log
  PREFIX_AGENT_SHARE_TOKEN    "true" lets scripts see the agent's token

PREFIX is that of the only variable called …_AGENT_TOKEN or …_AGENT_TOKEN_FILE, otherwise SERVICE.
`

const usageError = 2

const finish = (code: number, text: string): never => {
  const stream = code === 0 ? process.stdout : process.stderr
  stream.write(text)
  return process.exit(code)
}

const parseArguments = Either.try({
  try: () =>
    parseArgs({
      allowPositionals: true,
      options: {
        "environment-prefix": { type: "string" },
        brand: { type: "string" },
        version: { type: "boolean" },
        help: { type: "boolean" }
      }
    }),
  catch: (cause) => new InvalidConfig({ message: cause instanceof Error ? cause.message : String(cause) })
})

const explain = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Does what the command line asks for, and ends the process with it. */
export const run = (): void => {
  StartFlags.begin()
  const settings = Either.gen(function* () {
    const { positionals, values } = yield* parseArguments
    const [command, ...operands] = positionals
    const isKnown =
      (command === GitAskpass.command && operands.length < 2) || (command === PlacedFiles.command && [1, 2].includes(operands.length))
    if (command !== undefined && !isKnown) {
      return yield* Either.left(new InvalidConfig({ message: `There is no command "${positionals.join(" ")}"` }))
    }
    if (values.help === true) return finish(0, usage)
    if (values.version === true) return finish(0, `v${version}\n`)
    const [archive = "", directory = homedir()] = operands
    if (command === PlacedFiles.command) return { _tag: "Place" as const, archive, directory }
    const config = yield* fromEnvironment(process.env, { environmentPrefix: values["environment-prefix"], brand: values.brand })
    return command === undefined ? { _tag: "Run" as const, config } : { _tag: "Answer" as const, config, prompt: operands[0] ?? "" }
  })

  const task = Either.getOrElse(settings, ({ message }) => finish(usageError, `${message}\n\n${usage}`))

  // The reader of the agent's own log may exit first.
  process.stdout.on("error", () => undefined)
  process.stderr.on("error", () => undefined)

  const fail = (cause: unknown) => finish(1, `${explain(cause)}\n`)
  switch (task._tag) {
    case "Place":
      PlacedFiles.place(task.archive, task.directory).then(() => finish(0, ""), fail)
      return
    case "Answer":
      GitAskpass.answer(task.config, task.prompt, (line) => process.stderr.write(`${line}\n`)).then((text) => finish(0, `${text}\n`), fail)
      return
    case "Run":
      runAgent(task.config)
  }
}

/** Writes the files of the template. An agent without them would run the template's scripts in another workspace than they were written for. */
const placeFiles = ({ filesArchive, homeDirectory, tellsStart }: AgentConfig): Effect.Effect<void> =>
  filesArchive === undefined
    ? Effect.void
    : Effect.promise(() =>
        PlacedFiles.place(filesArchive, homeDirectory).catch((cause: unknown) => {
          const message = `the template's files cannot be written into ${homeDirectory}: ${explain(cause)}`
          if (tellsStart) StartNotices.failed(message)
          finish(1, `${message}\n`)
        })
      )

const runAgent = (config: AgentConfig): void => {
  const marks = Marks.make(config.brand)
  const agent = Effect.runFork(
    Effect.zipRight(placeFiles(config), Agent.run(config, marks, StartFlags.begin)).pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
      Logger.withMinimumLogLevel(config.isVerbose ? LogLevel.Debug : LogLevel.Info)
    )
  )

  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    // Engines may ask a whole process group to end more than once; only a person at a terminal means it.
    if (isStopping && signal === "SIGINT") {
      ProcessTree.kill({ root: undefined, isMark: marks.isMark })
      process.exit(128 + constants.signals[signal])
    }
    if (isStopping) return
    isStopping = true
    Effect.runFork(Fiber.interruptFork(agent))
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stop(signal))

  agent.addObserver((exit) => {
    if (exit._tag === "Success" || Cause.isInterruptedOnly(exit.cause)) process.exit(0)
    finish(1, `${Cause.pretty(exit.cause)}\n`)
  })
}
