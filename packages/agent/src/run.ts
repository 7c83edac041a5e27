/** The agent as a program: reads its command line and environment, and runs until a signal ends it. */
import { constants } from "node:os"
import { parseArgs } from "node:util"
import { Cause, Effect, Either, Fiber, Logger } from "effect"
import * as Agent from "./Agent.js"
import { fromEnvironment, InvalidConfig } from "./AgentConfig.js"
import * as GitAskpass from "./environment/GitAskpass.js"
import * as Marks from "./scripts/Marks.js"
import * as ProcessTree from "./scripts/ProcessTree.js"
import { version } from "./Version.js"

const usage = `Usage: atelier-agent [--environment-prefix PREFIX] [--brand BRAND] [git-askpass PROMPT]

Runs the workspace agent until it gets SIGTERM, SIGINT or SIGHUP; then SIGINT (Ctrl-C) ends it at once.
With git-askpass, answers a question of git for a user name or password.

  --version                   prints the agent's version
  --help                      prints this text

  PREFIX_AGENT_URL            address of the server
  PREFIX_AGENT_TOKEN          the agent's token, or PREFIX_AGENT_TOKEN_FILE a file that holds it
  PREFIX_AGENT_BRAND          the product's word in header names, like --brand
  PREFIX_AGENT_LOG_DIRECTORY  where log files with a relative path are written
  PREFIX_AGENT_OUTAGE_FILE    where it is reported after 30 s that the server cannot be reached
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

/** Runs the agent, and ends the process with it. */
export const run = (): void => {
  const settings = Either.gen(function* () {
    const { positionals, values } = yield* parseArguments
    if (positionals.length > 0 && (positionals[0] !== GitAskpass.command || positionals.length > 2)) {
      return yield* Either.left(new InvalidConfig({ message: `There is no command "${positionals.join(" ")}"` }))
    }
    if (values.help === true) return finish(0, usage)
    if (values.version === true) return finish(0, `v${version}\n`)
    const config = yield* fromEnvironment(process.env, { environmentPrefix: values["environment-prefix"], brand: values.brand })
    return { config, prompt: positionals.length === 0 ? undefined : (positionals[1] ?? "") }
  })

  const { config, prompt } = Either.getOrElse(settings, ({ message }) => finish(usageError, `${message}\n\n${usage}`))

  // The reader of the agent's own log may exit first.
  process.stdout.on("error", () => undefined)
  process.stderr.on("error", () => undefined)

  if (prompt !== undefined) {
    GitAskpass.answer(config, prompt, (line) => process.stderr.write(`${line}\n`)).then(
      (text) => finish(0, `${text}\n`),
      (cause: unknown) => finish(1, `${cause instanceof Error ? cause.message : String(cause)}\n`)
    )
    return
  }
  const marks = Marks.make(config.brand)
  const agent = Effect.runFork(
    Agent.run(config, marks).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))))
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
