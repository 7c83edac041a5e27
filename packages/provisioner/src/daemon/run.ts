/** The daemon as a program: reads its command line and environment, and runs until a signal ends it. */
import { Brand } from "@atelier/agent"
import { StartError } from "@atelier/core/platform"
import { Cause, Deferred, Duration, Effect, Either, Exit, FiberId, Layer, Logger, Option } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as LocalProvisioner from "../LocalProvisioner.js"
import * as TerraformProvisioner from "../terraform/TerraformProvisioner.js"
import * as Daemon from "./Daemon.js"
import { type DaemonConfig, fromArguments, usage } from "./DaemonConfig.js"
import { version } from "./Version.js"

const startError = 1
const usageError = 2
const refused = 3

const finish = (code: number, text: string): never => {
  const stream = code === 0 ? process.stdout : process.stderr
  stream.write(text)
  return process.exit(code)
}

/** The engines that were asked for; the local one first, as in the server. */
const enginesOf = ({ brand, directory, engines, terraformBinary, terraformEnvironment, terraformPlanTimeout }: DaemonConfig) => {
  const local = () =>
    LocalProvisioner.layer({
      directory: join(directory, "workspaces"),
      agent: {
        command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))],
        environmentPrefix: Brand.environmentNameOf(brand)
      }
    })
  const terraform = () =>
    TerraformProvisioner.layer({
      directory: join(directory, "terraform"),
      binary: terraformBinary,
      environment: TerraformProvisioner.variablesNamed(terraformEnvironment, process.env),
      planTimeout: terraformPlanTimeout
    })
  if (!engines.includes("local")) return terraform()
  return engines.includes("terraform") ? Layer.provideMerge(local(), terraform()) : local()
}

/** Runs the daemon, and ends the process with it. */
export const run = (): void => {
  const command = Either.getOrElse(fromArguments(process.argv.slice(2), process.env), ({ message }) =>
    finish(usageError, `${message}\nSee atelier-provisioner --help.\n`)
  )
  if (command._tag === "Help") return finish(0, usage)
  if (command._tag === "Version") return finish(0, `v${version}\n`)
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
