/** Commands of Terraform in the folder of a job: their environment, logs, times and failures. templates-and-provisioning.md §10. */
import type { LogLevel } from "@atelier/core/platform"
import { type LogSink, ProvisionFailure } from "@atelier/core/provisioning"
import { Duration, Effect } from "effect"
import { join } from "node:path"
import type { Allowance } from "./Allowance.js"
import { type CommandError, type Confinement, run } from "./Command.js"
import { baseEnvironment } from "./Environment.js"
import { excesses } from "./Limits.js"
import { type Folders, type Machine, mark, refused } from "./Machine.js"
import { levelOf, type makeTimings, parseMessage, redactor, textsOf } from "./Output.js"

/** Errors of a command that its failure tells; the log has all. */
const maximumErrors = 10

/** How long a command may take to end that is asked to and leaves no state: its providers may let go of what they hold. */
const statelessGrace = Duration.seconds(15)

const missing = { code: "MISSING_TEMPLATE_PARAMETER" } as const

const withState = (error: CommandError, state: Effect.Effect<Uint8Array | undefined> = Effect.succeed(undefined)) =>
  Effect.flatMap(state, (left) => new ProvisionFailure({ message: error.message, state: left }))

/** Where commands run, and who reads what they write. */
interface Place extends Pick<Machine, "bounds" | "containers" | "groups" | "options" | "processes" | "user"> {
  readonly program: string
  readonly folders: Folders
  readonly log: LogSink
}

/** Of the user of this process; another one has neither its home nor its folders. */
const ofServersUser = /^(?:USER|LOGNAME|XDG_.*)$/

/** Commands in the folder of a job. */
export const commandsIn = ({ bounds, containers, folders, groups, log, options, processes, program, user }: Place) => {
  const { directory, folder, temporary } = folders
  const cache = join(options.directory, "plugins")
  const confinement: Confinement = { bounds, spent: { cpuTime: 0 }, folder, groups, user, containers, processes }
  const base = Object.entries(baseEnvironment(options.environment, containers !== undefined))
  const common = {
    ...(user === undefined && containers === undefined
      ? Object.fromEntries(base)
      : { ...Object.fromEntries(base.filter(([name]) => !ofServersUser.test(name))), HOME: folders.home }),
    TMPDIR: temporary,
    [mark]: options.directory,
    TF_IN_AUTOMATION: "1",
    TF_INPUT: "0",
    CHECKPOINT_DISABLE: "1",
    TF_PLUGIN_CACHE_DIR: cache,
    // Without a lock file in the source the cache would not be used at all
    TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: "1"
  }
  const cancelGrace = options.cancelGrace ?? Duration.seconds(150)
  const commandOf = (
    parameters: ReadonlyArray<string>,
    allowance: Allowance,
    { environment = {}, hasState = false }: { readonly environment?: Readonly<Record<string, string>>; readonly hasState?: boolean } = {}
  ) =>
    Effect.map(allowance.left, (timeout) => ({
      program,
      options: parameters,
      directory,
      environment: { ...common, ...environment },
      timeout,
      bound: allowance.said,
      grace: hasState ? cancelGrace : Duration.min(cancelGrace, statelessGrace),
      confinement
    }))

  /** Runs a command that writes a log; fails with its exit status if it does not end well. */
  const logged = (
    stage: string,
    parameters: ReadonlyArray<string>,
    allowance: Allowance,
    given: {
      readonly environment?: Readonly<Record<string, string>>
      readonly secrets?: ReadonlyArray<string>
      readonly timings?: ReturnType<typeof makeTimings>
      /** What a failure leaves behind. */
      readonly state?: Effect.Effect<Uint8Array | undefined>
    } = {}
  ): Effect.Effect<void, ProvisionFailure> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const withoutSecrets = redactor(given.secrets ?? [])
        // Paths of the server mean nothing to the author of a template
        const hide = (text: string) => withoutSecrets(text.replaceAll(directory, ".").replaceAll(folder, "."))
        let lacksParameter = false
        const say = (text: string, level: LogLevel) =>
          Effect.forEach(
            text.split("\n").filter((line) => line.trim() !== ""),
            (line) => log({ source: "provisioner", level, stage, output: hide(line) }),
            { discard: true }
          )
        const onLine = (line: string, stream: "stdout" | "stderr") => {
          const message = stream === "stdout" ? parseMessage(line) : undefined
          if (message === undefined) {
            return say(line, stream === "stderr" ? "error" : "info")
          }
          given.timings?.add(message)
          const texts = textsOf(message)
          if (levelOf(message) === "error" && texts.some((text) => /missing parameter/i.test(text))) lacksParameter = true
          return Effect.forEach(texts, (text) => say(text, levelOf(message)), { discard: true })
        }
        const command = yield* commandOf(parameters, allowance, { ...given, hasState: given.state !== undefined })
        const output = { bytes: bounds.output, excess: excesses.output(bounds) }
        const { code, wasInterrupted } = yield* run({ ...command, onLine, output }, restore)
        if (code === 0 && !wasInterrupted) return
        const state = yield* given.state ?? Effect.succeed(undefined)
        if (wasInterrupted && state === undefined) return yield* Effect.interrupt
        const status = code === null ? "killed" : `exit status ${code}`
        // The log has why, with files and lines
        const message = `terraform ${parameters[0] ?? ""}: ${wasInterrupted ? "canceled" : status}`
        return yield* new ProvisionFailure({ message, state, ...(lacksParameter ? missing : {}) })
      }).pipe(Effect.catchTag("CommandError", (error) => withState(error, given.state)))
    )

  /** Runs a command and returns what it prints. */
  const printed = (parameters: ReadonlyArray<string>, allowance: Allowance): Effect.Effect<string, ProvisionFailure> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const out: Array<string> = []
        const errors: Array<string> = []
        const onLine = (line: string, stream: "stdout" | "stderr") =>
          Effect.sync(() => void (stream === "stdout" ? out : errors).push(line))
        const output = { bytes: bounds.state, excess: excesses.shown(bounds) }
        const { code, wasInterrupted } = yield* run({ ...(yield* commandOf(parameters, allowance)), onLine, output }, restore)
        if (wasInterrupted) return yield* Effect.interrupt
        if (code === 0) return out.join("\n")
        const message = [`terraform ${parameters[0] ?? ""}: exit status ${code}`, ...errors.slice(0, maximumErrors)].join("\n")
        return yield* new ProvisionFailure({ message })
      }).pipe(Effect.catchTag("CommandError", refused))
    )

  return { logged, printed }
}
