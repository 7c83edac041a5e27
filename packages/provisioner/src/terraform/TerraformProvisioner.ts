/** The engine that runs Terraform, or OpenTofu, on the templates of that language. templates-and-provisioning.md §9, §10. */
import { type LogLevel, startedWith, Uuid } from "@atelier/core/platform"
import {
  type Applied,
  type BuildTransition,
  type Engine,
  type EngineTiming,
  type LogSink,
  type ParsedTemplate,
  type PlanInput,
  ProvisionerEngines,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { Duration, Effect, Either, Layer, Option, Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { findProgram } from "../AgentProcess.js"
import { type ArchiveFile, readFiles } from "../Archive.js"
import { own } from "../DirectoryOwner.js"
import { ProcessTable } from "../ProcessTable.js"
import { kill } from "../ProcessTree.js"
import { attempt, prepareRoot } from "../WorkspaceDirectory.js"
import { type CommandError, run } from "./Command.js"
import { buildEnvironment, inheritedEnvironment, secretsOf } from "./Environment.js"
import { evaluateForm, evaluateTags, makeModules } from "./Form.js"
import { levelOf, makeTimings, parseMessage, redactor, textsOf } from "./Output.js"
import { placeholders } from "./Placeholders.js"
import { readPlan, type ReadPlan, readState, type SpareToken } from "./Reading.js"
import { flawsOfPresets } from "./Presets.js"
import { configurationFiles, parseSource, variableFile } from "./Source.js"

export interface Options {
  /** Absolute path of a `terraform` or `tofu`; without it, the first of both on the PATH is used. */
  readonly binary?: string | undefined
  /** A directory of this process alone, for the folders of jobs and the cache of providers. */
  readonly directory: string
  /** What Terraform is given of the environment of this process; all but this product's own variables unless given. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** How long a command other than `apply` may run; 15 minutes unless given. */
  readonly planTimeout?: Duration.DurationInput | undefined
  /** How long an `apply` may run; 3 hours unless given. */
  readonly applyTimeout?: Duration.DurationInput | undefined
  /** How long a command may take to end after its job was canceled; then it is killed. 150 seconds unless given. */
  readonly cancelGrace?: Duration.DurationInput | undefined
}

const noBinary = new ProvisionFailure({
  message:
    "This server has no Terraform: install terraform or tofu on the PATH of the server, or name the program in the option terraform-binary."
})

const stages: Readonly<Record<BuildTransition, string>> = {
  start: "Starting workspace",
  stop: "Stopping workspace",
  delete: "Destroying workspace"
}

/** Set in every process of this engine, so that those of a server that was killed are found. */
const mark = "ATELIER_TERRAFORM_DIRECTORY"

const stateFile = "terraform.tfstate"

/** Files of a source that Terraform itself writes. */
const isOfTerraform = (path: string): boolean => path.startsWith(".terraform/") || path.startsWith(stateFile)

const refused = ({ message }: { readonly message: string }) => new ProvisionFailure({ message })

const nothing: ReadPlan = {
  resources: [],
  parameters: [],
  presets: [],
  external_auth_providers: [],
  workspace_tags: {},
  daily_cost: 0,
  has_ai_task: false,
  has_external_agent: false,
  ai_tasks: 0,
  replacements: []
}

/** What is the same in all jobs of this engine. */
interface Machine {
  readonly options: Options
  /** One `init` at a time: the cache of providers is not for several. */
  readonly cacheLock: Effect.Semaphore
}

const programOf = ({ binary, environment = process.env }: Options): Effect.Effect<string, ProvisionFailure> =>
  Effect.firstSuccessOf(
    (binary === undefined ? ["terraform", "tofu"] : [binary]).map((name) => findProgram(name, environment["PATH"] ?? ""))
  ).pipe(Effect.mapError(() => noBinary))

/** The folder of one job; removed with the scope. */
const jobFolder = ({ directory }: Options): Effect.Effect<string, ProvisionFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const folder = join(directory, "jobs", randomUUID())
      return attempt("the folder of the job cannot be made", () => fs.mkdir(join(folder, "source"), { recursive: true, mode: 0o700 })).pipe(
        Effect.as(folder),
        Effect.mapError(refused)
      )
    }),
    (folder) => Effect.ignoreLogged(attempt(`${folder} cannot be removed`, () => fs.rm(folder, { recursive: true, force: true })))
  )

const unpack = (files: ReadonlyMap<string, ArchiveFile>, folder: string) =>
  Effect.forEach(
    files,
    ([path, { bytes, mode }]) =>
      isOfTerraform(path)
        ? Effect.void
        : attempt(`${path} cannot be unpacked`, async () => {
            await fs.mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
            await fs.writeFile(join(folder, path), bytes, { mode: mode & 0o700 })
          }),
    { discard: true }
  ).pipe(Effect.mapError(refused))

/** For agents whose own token is not known before the apply: nothing is stored that it would open. */
const spareToken: SpareToken = () => Uuid.Uuid.make(randomUUID())

const open =
  (machine: Machine): Engine["open"] =>
  (source, log) =>
    Effect.gen(function* () {
      const program = yield* programOf(machine.options)
      const files = yield* Effect.mapError(readFiles(source), refused)
      const contents = new Map(Array.from(files, ([path, { bytes }]) => [path, bytes]))
      const parsed = yield* Effect.cached(parseSource(contents))
      const modules = makeModules(contents)
      // Most who open a source only parse it
      const scope = yield* Effect.scope
      const operations = yield* Effect.cached(Scope.extend(operationsOn({ ...machine, program, files, contents, parsed, log }), scope))
      return {
        parse: parsed,
        preview: (input) => evaluateForm({ files: contents, modules }, input),
        workspaceTags: (input) => evaluateTags({ files: contents, modules }, input),
        presetFlaws: (input) => flawsOfPresets({ files: contents, modules }, input),
        plan: (input) => Effect.flatMap(operations, ({ plan }) => plan(input)),
        apply: (input) => Effect.flatMap(operations, ({ apply }) => apply(input))
      }
    })

/** A source that a job works on. */
interface Job extends Machine {
  readonly program: string
  readonly files: ReadonlyMap<string, ArchiveFile>
  readonly contents: ReadonlyMap<string, Uint8Array>
  readonly parsed: Effect.Effect<ParsedTemplate, ProvisionFailure>
  readonly log: LogSink
}

/** What Terraform does with a source, in the folder of a job. */
const operationsOn = ({ cacheLock, contents, files, log, options, parsed, program }: Job) =>
  Effect.gen(function* () {
    const folder = yield* jobFolder(options)
    const directory = join(folder, "source")
    yield* unpack(files, directory)
    const inherited = inheritedEnvironment(options.environment ?? process.env)
    const cache = join(options.directory, "plugins")
    const common = {
      ...inherited,
      [mark]: options.directory,
      TF_IN_AUTOMATION: "1",
      TF_INPUT: "0",
      CHECKPOINT_DISABLE: "1",
      TF_PLUGIN_CACHE_DIR: cache,
      // Without a lock file in the source the cache would not be used at all
      TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: "1"
    }
    const commandOf = (parameters: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => ({
      program,
      options: parameters,
      directory,
      environment: { ...common, ...environment },
      timeout: options.planTimeout ?? Duration.minutes(15),
      grace: options.cancelGrace ?? Duration.seconds(150)
    })

    /** Runs a command that writes a log; fails with its first errors if it does not end well. */
    const logged = (
      stage: string,
      parameters: ReadonlyArray<string>,
      given: {
        readonly environment?: Readonly<Record<string, string>>
        readonly secrets?: ReadonlyArray<string>
        readonly timings?: ReturnType<typeof makeTimings>
        readonly timeout?: Duration.DurationInput | undefined
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
            Effect.forEach(text.split("\n"), (line) => log({ source: "provisioner", level, stage, output: hide(line) }), {
              discard: true
            })
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
          const command = commandOf(parameters, given.environment ?? {})
          const { code, wasInterrupted } = yield* run({ ...command, timeout: given.timeout ?? command.timeout, onLine }, restore)
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
    const printed = (parameters: ReadonlyArray<string>): Effect.Effect<string, ProvisionFailure> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const out: Array<string> = []
          const errors: Array<string> = []
          const onLine = (line: string, stream: "stdout" | "stderr") =>
            Effect.sync(() => void (stream === "stdout" ? out : errors).push(line))
          const { code, wasInterrupted } = yield* run({ ...commandOf(parameters, {}), onLine }, restore)
          if (wasInterrupted) return yield* Effect.interrupt
          if (code === 0) return out.join("\n")
          const message = [`terraform ${parameters[0] ?? ""}: exit status ${code}`, ...errors.slice(0, maximumErrors)].join("\n")
          return yield* new ProvisionFailure({ message })
        }).pipe(Effect.catchTag("CommandError", refused))
      )

    let isReady = false
    const initialise = Effect.gen(function* () {
      if (isReady) return
      // Terraform's own message for a source with a broken file has no file and line in older versions
      yield* parsed
      yield* cacheLock.withPermits(1)(logged("Initializing Terraform Directory", ["init", "-no-color", "-input=false", "-json"]))
      isReady = true
    })

    const shown = (parameters: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const [json, dot] = yield* Effect.all([printed(["show", "-json", "-no-color", ...parameters]), printed(["graph", "-type=plan"])], {
          concurrency: 2
        })
        const document = yield* Effect.try({
          try: (): unknown => JSON.parse(json),
          catch: () => new ProvisionFailure({ message: "terraform show printed something other than JSON" })
        })
        return { document, dot }
      })

    const path = join(directory, stateFile)
    const currentState = Effect.promise(() =>
      fs.readFile(path).then(
        (bytes) => new Uint8Array(bytes),
        () => undefined
      )
    )

    /** Writes what a plan stands on: the state, and the values of variables. */
    const prepare = (input: PlanInput) =>
      Effect.gen(function* () {
        const { variables } = yield* parsed
        const values = new Map(input.variables.map(({ name, value }) => [name, value]))
        yield* attempt("the state cannot be written", async () => {
          await fs.rm(path, { force: true })
          if (input.state.byteLength > 0) await fs.writeFile(path, input.state, { mode: 0o600 })
          await fs.writeFile(join(folder, "values.tfvars"), variableFile(variables, values), { mode: 0o600 })
        }).pipe(Effect.mapError(refused))
      })

    /** The input of the saved plan, and what the plan says. */
    let saved: { readonly input: PlanInput; readonly plan: ReadPlan; readonly timings: ReadonlyArray<EngineTiming> } | undefined

    const plan = (input: PlanInput) =>
      Effect.gen(function* () {
        const stage = "Planning Infrastructure"
        saved = undefined
        const { transition } = input.metadata
        if (transition === "delete" && input.state.byteLength === 0) {
          yield* log({ source: "provisioner", level: "info", stage, output: "The workspace has no state: there is nothing to destroy." })
          return nothing
        }
        yield* initialise
        yield* prepare(input)
        const timings = makeTimings("plan")
        const planWith = (given: PlanInput) =>
          logged(
            stage,
            [
              "plan",
              "-no-color",
              "-input=false",
              "-json",
              "-refresh=true",
              `-out=${join(folder, "tfplan")}`,
              `-var-file=${join(folder, "values.tfvars")}`,
              ...(transition === "delete" ? ["-destroy"] : [])
            ],
            { environment: buildEnvironment(given), secrets: secretsOf(given), timings }
          )
        const isTrial = input.metadata.workspace_id === Uuid.nil && input.parameters.length === 0
        const parameters = isTrial ? placeholders(contents) : []
        yield* parameters.length === 0
          ? planWith(input)
          : Effect.catchAll(planWith(input), (failure) => {
              const output = `Planning again with values for required parameters: ${parameters.map(({ name }) => name).join(", ")}`
              return log({ source: "provisioner", level: "info", stage, output }).pipe(
                Effect.zipRight(planWith({ ...input, parameters })),
                Effect.mapError(() => failure)
              )
            })
        const { document, dot } = yield* shown([join(folder, "tfplan")])
        const read = yield* Either.mapLeft(readPlan(document, dot, spareToken), refused)
        saved = { input, plan: read, timings: timings.timings }
        return { ...read, timings: timings.timings }
      })

    const apply = (input: PlanInput): Effect.Effect<Applied, ProvisionFailure> =>
      Effect.gen(function* () {
        const { transition } = input.metadata
        const stage = stages[transition]
        if (transition === "delete" && input.state.byteLength === 0) return { resources: [], state: new Uint8Array(0) }
        if (saved?.input !== input) yield* plan(input)
        const { ai_tasks: tasks = 0, replacements = [] } = saved?.plan ?? {}
        if (tasks > 1)
          return yield* new ProvisionFailure({ message: `Only one coder_ai_task can be used per workspace, the template has ${tasks}.` })
        const timings = makeTimings("apply")
        yield* logged(stage, ["apply", "-no-color", "-auto-approve", "-input=false", "-json", join(folder, "tfplan")], {
          environment: buildEnvironment(input),
          secrets: secretsOf(input),
          timings,
          timeout: options.applyTimeout ?? Duration.hours(3),
          state: currentState
        })
        const state = (yield* currentState) ?? new Uint8Array(0)
        if (transition === "delete") return { resources: [], state: new Uint8Array(0), timings: timings.timings }
        return yield* Effect.gen(function* () {
          const { document, dot } = yield* shown([])
          return {
            ...(yield* Either.mapLeft(readState(document, dot, spareToken), refused)),
            replacements,
            state,
            timings: timings.timings
          }
        }).pipe(Effect.mapError(({ message }) => new ProvisionFailure({ message, state })))
      })

    return { plan, apply }
  })

/** Errors of a command that its failure tells; the log has all. */
const maximumErrors = 10

const missing = { code: "MISSING_TEMPLATE_PARAMETER" } as const

const withState = (error: CommandError, state: Effect.Effect<Uint8Array | undefined> = Effect.succeed(undefined)) =>
  Effect.flatMap(state, (left) => new ProvisionFailure({ message: error.message, state: left }))

const makeEngine = (options: Options, cacheLock: Effect.Semaphore): Engine => ({
  type: "terraform",
  // An apply that died has changed the world, and no state says how
  repeatable: new Set(["parse", "plan"]),
  understands: (paths) => configurationFiles(paths).length > 0,
  open: open({ options, cacheLock })
})

/** Ends what a server that was killed has left, and makes the folders. */
const prepareDirectory = (directory: string) =>
  Effect.gen(function* () {
    yield* prepareRoot(directory)
    yield* own(directory)
    yield* kill({ leaders: [], marks: [`${mark}=${directory}`] })
    yield* attempt(`${directory} cannot be prepared`, async () => {
      await fs.rm(join(directory, "jobs"), { recursive: true, force: true })
      for (const folder of ["jobs", "plugins"]) await fs.mkdir(join(directory, folder), { recursive: true, mode: 0o700 })
    })
  })

/**
 * Adds the engine behind those that the context has. It runs the program that it finds when a job needs it; without one, jobs of Terraform
 * templates fail and say so.
 *
 * Fails with `StartError` when the directory cannot be made, or while another process works in it.
 */
export const layer = (options: Options) =>
  Layer.scoped(
    ProvisionerEngines,
    Effect.gen(function* () {
      const others = Option.getOrElse(yield* Effect.serviceOption(ProvisionerEngines), () => [])
      yield* prepareDirectory(options.directory)
      return [...others, makeEngine(options, yield* Effect.makeSemaphore(1))]
    })
  ).pipe(Layer.provide(ProcessTable.layer), startedWith({ option: "terraform.directory", value: options.directory }))
