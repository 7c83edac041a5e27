/** Plans and applies of a source by Terraform, in the folder of one job. templates-and-provisioning.md §9, §10. */
import { Uuid } from "@atelier/core/platform"
import {
  type Applied,
  type BuildTransition,
  type EngineTiming,
  type LogSink,
  type ParsedTemplate,
  type PlanInput,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { Duration, Effect, Either } from "effect"
import { randomUUID } from "node:crypto"
import type { ArchiveFile } from "@atelier/provisioner/engine"
import { makeAllowance, type Allowance } from "./Allowance.js"
import { commandsIn } from "./Commands.js"
import { archived, restored } from "./DownloadedModules.js"
import { buildEnvironment, secretsOf } from "./Environment.js"
import { filesIn, type JobFiles } from "./JobFiles.js"
import { type Excess, excesses } from "./Limits.js"
import { handOver, jobFolders, type Machine, refused, unpack } from "./Machine.js"
import { makeTimings, timedStage } from "./Output.js"
import { placeholders } from "./Placeholders.js"
import { readPlan, type ReadPlan, readState, type SpareToken } from "./Reading.js"

const stages: Readonly<Record<BuildTransition, string>> = {
  start: "Starting workspace",
  stop: "Stopping workspace",
  delete: "Destroying workspace"
}

/** A plan without a workspace is the import of a version, or a dry run of it. */
const stageOfPlan = ({ transition, workspace_id }: PlanInput["metadata"]): string => {
  if (workspace_id !== Uuid.nil) return "Planning Infrastructure"
  return transition === "stop" ? "Detecting ephemeral resources" : "Detecting persistent resources"
}

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

/** For agents whose own token is not known before the apply: nothing is stored that it would open. */
const spareToken: SpareToken = () => Uuid.Uuid.make(randomUUID())

/** A source that a job works on. */
export interface Job extends Machine {
  readonly program: string
  readonly files: ReadonlyMap<string, ArchiveFile>
  readonly contents: ReadonlyMap<string, Uint8Array>
  readonly parsed: Effect.Effect<ParsedTemplate, ProvisionFailure>
  readonly log: LogSink
  /** The archive of the modules that the source's import has downloaded. */
  readonly modules: Uint8Array | undefined
}

type Timings = ReturnType<typeof makeTimings>

/** What the commands of one job need. */
interface Commanded {
  readonly commands: ReturnType<typeof commandsIn>
  readonly files: JobFiles
  readonly log: LogSink
}

/** Returns a saved plan, or without parameters the state, as Terraform shows it, with its graph. */
const shown = ({ commands: { printed }, log }: Commanded, parameters: ReadonlyArray<string>, allowance: Allowance) =>
  Effect.gen(function* () {
    yield* log({ source: "provisioner_daemon", level: "info", stage: "Graphing Infrastructure", output: "" })
    const show = printed(["show", "-json", "-no-color", ...parameters], allowance)
    const [json, dot] = yield* Effect.all([show, printed(["graph", "-type=plan"], allowance)], { concurrency: 2 })
    const document = yield* Effect.try({
      try: (): unknown => JSON.parse(json),
      catch: () => new ProvisionFailure({ message: "terraform show printed something other than JSON" })
    })
    return { document, dot }
  })

/** Saves a plan. A plan without a workspace that fails is tried again with values for required parameters. */
const savePlan = (
  { commands: { logged }, files, log }: Commanded,
  contents: ReadonlyMap<string, Uint8Array>,
  input: PlanInput,
  timings: Timings,
  allowance: Allowance
) =>
  Effect.gen(function* () {
    const stage = stageOfPlan(input.metadata)
    const planWith = (given: PlanInput) =>
      logged(
        stage,
        [
          "plan",
          "-no-color",
          "-input=false",
          "-json",
          "-refresh=true",
          `-out=${files.savedPlan}`,
          `-var-file=${files.values}`,
          ...(input.metadata.transition === "delete" ? ["-destroy"] : [])
        ],
        allowance,
        { environment: buildEnvironment(given), secrets: secretsOf(given), timings }
      )
    const isTrial = input.metadata.workspace_id === Uuid.nil && input.parameters.length === 0
    const parameters = isTrial ? yield* placeholders(contents) : []
    yield* parameters.length === 0
      ? planWith(input)
      : Effect.catchAll(planWith(input), (failure) => {
          const output = `Planning again with values for required parameters: ${parameters.map(({ name }) => name).join(", ")}`
          return log({ source: "provisioner", level: "info", stage, output }).pipe(
            Effect.zipRight(planWith({ ...input, parameters })),
            Effect.mapError(() => failure)
          )
        })
  })

/** Whether a build deletes a workspace that has no resources: there is nothing to plan or apply. */
const hasNothingToDestroy = ({ metadata: { transition }, state }: PlanInput): boolean => transition === "delete" && state.byteLength === 0

const tooLarge = (command: string, { said }: Excess, state?: Uint8Array) =>
  new ProvisionFailure({ message: `${command} failed: ${said}`, state })

/** What Terraform does with a source, in the folder of a job. */
export const operationsOn = (job: Job) =>
  Effect.gen(function* () {
    const { bounds, cacheLock, contents, log, modules, options, parsed, user } = job
    const folders = yield* jobFolders(job)
    yield* unpack(job.files, folders.directory)
    if (modules !== undefined) yield* restored(modules, folders.directory, log)
    yield* handOver(user, folders)
    const commands = commandsIn({ ...job, folders })
    const files = filesIn(folders, bounds, user)
    const commanded: Commanded = { commands, files, log }

    // All plans of a session together: an import makes two
    const planLimit = options.planTimeout ?? Duration.minutes(10)
    const building = makeAllowance("the plan of a build", planLimit, "terraform-plan-timeout")
    const importing = makeAllowance("an import", options.importTimeout ?? Duration.minutes(5), "terraform-import-timeout")
    /** An import, and a dry run, have no workspace. */
    const allowanceOf = (input?: PlanInput) => (input === undefined || input.metadata.workspace_id === Uuid.nil ? importing : building)

    /** How long the `init` took; undefined before it. */
    let initialised: ReadonlyArray<EngineTiming> | undefined
    const initialise = (allowance: Allowance) =>
      Effect.gen(function* () {
        if (initialised !== undefined) return initialised
        // Terraform's own message for a source with a broken file has no file and line in older versions
        yield* parsed
        const parts = makeTimings("init")
        const { timing } = yield* timedStage(
          "init",
          allowance.holding(cacheLock)(
            commands.logged("Initializing Terraform Directory", ["init", "-no-color", "-input=false", "-json"], allowance, {
              timings: parts
            })
          )
        )
        initialised = [timing, ...parts.timings]
        return initialised
      })

    /** The input of the saved plan, what the plan says, and how long it took to read it. */
    let saved: { readonly input: PlanInput; readonly plan: ReadPlan; readonly graphed: EngineTiming } | undefined

    const plan = (input: PlanInput) =>
      Effect.gen(function* () {
        saved = undefined
        if (hasNothingToDestroy(input)) {
          const output = "The workspace has no state: there is nothing to destroy."
          yield* log({ source: "provisioner", level: "info", stage: stageOfPlan(input.metadata), output })
          return nothing
        }
        const allowance = allowanceOf(input)
        const preparing = yield* initialise(allowance)
        yield* files.write(input, (yield* parsed).variables)
        const parts = makeTimings("plan")
        const { timing } = yield* timedStage("plan", savePlan(commanded, contents, input, parts, allowance))
        if ((yield* files.planSize) > bounds.state) return yield* tooLarge("terraform plan", excesses.plan(bounds))
        const graph = yield* timedStage("graph", shown(commanded, [files.savedPlan], allowance))
        const read = yield* Either.mapLeft(readPlan(graph.result.document, graph.result.dot, spareToken), refused)
        saved = { input, plan: read, graphed: graph.timing }
        return { ...read, timings: [...preparing, timing, ...parts.timings] }
      })

    const apply = (input: PlanInput): Effect.Effect<Applied, ProvisionFailure> =>
      Effect.gen(function* () {
        const { transition } = input.metadata
        if (hasNothingToDestroy(input)) return { resources: [], state: new Uint8Array(0) }
        if (saved?.input !== input) yield* plan(input)
        const { graphed, plan: { ai_tasks: tasks = 0, replacements = [] } = {} } = saved ?? {}
        if (tasks > 1)
          return yield* new ProvisionFailure({ message: `Only one coder_ai_task can be used per workspace, the template has ${tasks}.` })
        const parts = makeTimings("apply")
        const applying = makeAllowance("an apply", options.applyTimeout ?? Duration.hours(3), "terraform-apply-timeout")
        const parameters = ["apply", "-no-color", "-auto-approve", "-input=false", "-json", files.savedPlan]
        const { timing } = yield* timedStage(
          "apply",
          commands.logged(stages[transition], parameters, applying, {
            environment: buildEnvironment(input),
            secrets: secretsOf(input),
            timings: parts,
            state: files.state
          })
        )
        const timings = [timing, ...parts.timings]
        const state = (yield* files.state) ?? new Uint8Array(0)
        // Nothing is left to be read
        if (transition === "delete") {
          return { resources: [], state: new Uint8Array(0), timings: [...timings, ...(graphed === undefined ? [] : [graphed])] }
        }
        if (state.byteLength > bounds.state) return yield* tooLarge("terraform apply", excesses.state(bounds), state)
        return yield* Effect.gen(function* () {
          // What was applied has to be read, whatever the plan has taken
          const reading = makeAllowance("the reading of a state", planLimit, "terraform-plan-timeout")
          const graph = yield* timedStage("graph", shown(commanded, [], reading))
          return {
            ...(yield* Either.mapLeft(readState(graph.result.document, graph.result.dot, spareToken), refused)),
            replacements,
            state,
            timings: [...timings, graph.timing]
          }
        }).pipe(Effect.mapError(({ message }) => new ProvisionFailure({ message, state })))
      })

    /** A delete without a state plans nothing. */
    const prepare = (input?: PlanInput) =>
      input !== undefined && hasNothingToDestroy(input) ? Effect.void : Effect.asVoid(initialise(allowanceOf(input)))

    return { prepare, plan, apply, modules: archived(folders.directory, log) }
  })
