/** The daemon as a program: reads its command line and environment, and runs until a signal ends it. */
import { Brand } from "@atelier/agent"
import { StartError } from "@atelier/core/platform"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Cause, Deferred, Duration, Effect, Either, Exit, FiberId, Logger, Option } from "effect"
import * as Daemon from "./Daemon.js"
import { engineNames, fromArguments, type InvalidArguments, type ProgramConfig, usage } from "./DaemonConfig.js"
import { loadEngines } from "./loadEngines.js"
import { version } from "./Version.js"

const startError = 1
const usageError = 2
const refused = 3

const finish = (code: number, text: string): never => {
  const stream = code === 0 ? process.stdout : process.stderr
  stream.write(text)
  return process.exit(code)
}

const refuse = ({ message }: InvalidArguments): never => finish(usageError, `${message}\nSee atelier-provisioner --help.\n`)

/** The engines of the daemon, in the order of the command line. */
const enginesOf = ({ brand, directory, engines }: ProgramConfig) =>
  ProvisionerEngines.inOrder(
    engines.map(({ engine, options }) =>
      engine.layer({ directory, environmentPrefix: Brand.environmentNameOf(brand), environment: process.env, options })
    )
  )

/** Runs the daemon, and ends the process with it. */
export const run = async (): Promise<void> => {
  const args = process.argv.slice(2)
  const loaded = await Effect.runPromise(Effect.either(loadEngines(engineNames(args))))
  // Help is shown without an engine, too
  const engines = Either.getOrElse(loaded, () => [])
  const command = Either.getOrElse(fromArguments(args, process.env, engines), (refusal) =>
    refuse(Either.getOrElse(Either.flip(loaded), () => refusal))
  )
  if (command._tag === "Help") return finish(0, usage(engines))
  if (command._tag === "Version") return finish(0, `v${version}\n`)
  if (Either.isLeft(loaded)) return refuse(loaded.left)
  const { config } = command

  // The reader of the daemon's own log may exit first
  process.stdout.on("error", () => undefined)
  process.stderr.on("error", () => undefined)

  const ending = Deferred.unsafeMake<void>(FiberId.none)
  const handingBack = Deferred.unsafeMake<void>(FiberId.none)
  const complete = (deferred: Deferred.Deferred<void>) => Deferred.unsafeDone(deferred, Effect.void)

  let isEnding = false
  const stop = (): void => {
    if (isEnding) complete(handingBack)
    isEnding = true
    complete(ending)
    setTimeout(() => complete(handingBack), Duration.toMillis(config.grace)).unref()
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop)

  const program = Daemon.run(config, { ending: Deferred.await(ending), handingBack: Deferred.await(handingBack) }).pipe(
    Effect.provide(enginesOf(config)),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)))
  )
  Effect.runFork(program).addObserver((exit) => {
    if (Exit.isSuccess(exit)) process.exit(0)
    const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
    if (failure === undefined) return finish(startError, `${Cause.pretty(exit.cause)}\n`)
    if (failure instanceof StartError) return finish(startError, `${failure.message}\n`)
    return finish(refused, `The server refuses this daemon with ${failure.status}: ${failure.message}\n`)
  })
}
