/** The daemon as a program: reads its command line and environment, and runs until a signal ends it. */
import { Brand } from "@atelier/agent"
import { StartError } from "@atelier/core/platform"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Cause, Deferred, Duration, Effect, Either, Exit, FiberId, Logger, Option } from "effect"
import * as Daemon from "./Daemon.js"
import { engineNames, fromArguments, type InvalidArguments, type ProgramConfig, usage } from "./DaemonConfig.js"
import { type IncludedEngines, loadEngines } from "./loadEngines.js"
import { version } from "./Version.js"

const startError = 1
const usageError = 2
const refused = 3

/** How the daemon is started. */
export interface DaemonProgram {
  /** The words of its command line. */
  readonly args: ReadonlyArray<string>
  /** How its user calls it. */
  readonly called: string
  /** The engines that need no package beside this one. */
  readonly included: IncludedEngines
}

const finish = (code: number, text: string): number => {
  const stream = code === 0 ? process.stdout : process.stderr
  stream.write(text)
  return code
}

/** The engines of the daemon, in the order of the command line. */
const enginesOf = ({ brand, directory, engines }: ProgramConfig) =>
  ProvisionerEngines.inOrder(
    engines.map(({ engine, options }) =>
      engine.layer({ directory, environmentPrefix: Brand.environmentNameOf(brand), environment: process.env, options })
    )
  )

/** Tells a running daemon to end at a signal, and to hand its job back at the second one. */
const signalled = ({ grace }: ProgramConfig) => {
  const ending = Deferred.unsafeMake<void>(FiberId.none)
  const handingBack = Deferred.unsafeMake<void>(FiberId.none)
  const complete = (deferred: Deferred.Deferred<void>) => Deferred.unsafeDone(deferred, Effect.void)

  let isEnding = false
  const stop = (): void => {
    if (isEnding) complete(handingBack)
    isEnding = true
    complete(ending)
    setTimeout(() => complete(handingBack), Duration.toMillis(grace)).unref()
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop)
  return { ending: Deferred.await(ending), handingBack: Deferred.await(handingBack) }
}

const serve = async (config: ProgramConfig): Promise<number> => {
  // The reader of the daemon's own log may exit first
  process.stdout.on("error", () => undefined)
  process.stderr.on("error", () => undefined)

  const exit = await Effect.runPromiseExit(
    Daemon.run(config, signalled(config)).pipe(
      Effect.provide(enginesOf(config)),
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)))
    )
  )
  if (Exit.isSuccess(exit)) return 0
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (failure === undefined) return finish(startError, `${Cause.pretty(exit.cause)}\n`)
  if (failure instanceof StartError) return finish(startError, `${failure.message}\n`)
  return finish(refused, `The server refuses this daemon with ${failure.status}: ${failure.message}\n`)
}

/** Runs the daemon until a signal ends it, and returns the exit code. */
export const runDaemon = async ({ args, called, included }: DaemonProgram): Promise<number> => {
  const refuse = ({ message }: InvalidArguments): number => finish(usageError, `${message}\nSee ${called} --help.\n`)
  const loaded = await Effect.runPromise(Effect.either(loadEngines(engineNames(args), included)))
  // Help is shown without an engine, too
  const engines = Either.getOrElse(loaded, () => [])
  const command = fromArguments(args, process.env, engines)
  if (Either.isLeft(command)) return refuse(Either.getOrElse(Either.flip(loaded), () => command.left))
  if (command.right._tag === "Help") return finish(0, usage(called, engines))
  if (command.right._tag === "Version") return finish(0, `v${version}\n`)
  return Either.isLeft(loaded) ? refuse(loaded.left) : serve(command.right.config)
}
