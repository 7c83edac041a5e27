/** Imports, plans and builds of `template.yaml`. templates-and-provisioning.md §9. */
import { type Ids, type LogLevel, Uuid } from "@atelier/core/platform"
import {
  type Applied,
  type BuildTransition,
  type Engine,
  type LogSink,
  type Plan,
  type PlanInput,
  type ProvisionedAgent,
  type ProvisionedResource,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { createServer } from "node:net"
import { relative } from "node:path/posix"
import type { Platform } from "../template/AgentEvaluation.js"
import { type ArchiveFile, readFiles } from "../engine/Archive.js"
import { evaluate, type Evaluation, type EvaluationFailure, preview, resourceType } from "../template/Evaluation.js"
import type { LocalWorkspaces } from "./LocalWorkspaces.js"
import type { LocalWorkspaceError, Report, WorkspaceStart } from "./WorkspaceBuild.js"
import { appId, withAppIds } from "./AppIds.js"
import { handOvers } from "./HandOver.js"
import { madeOnce } from "../engine/madeOnce.js"
import { templateVariables } from "../template/ParameterEvaluation.js"
import { readTemplate, type Template } from "../template/TemplateSource.js"
import { decodeState, encodeState, type WorkspaceState } from "./WorkspaceState.js"
import { formatProblem, formatProblems, type Problem } from "../template/YamlSource.js"

/** Bytes of a `README.md` that are kept. */
const maximumReadme = 1024 * 1024

const systems: Readonly<Record<string, string>> = { linux: "linux", darwin: "darwin" }
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "armv7" }
const platform: Platform = { os: systems[process.platform] ?? process.platform, arch: architectures[process.arch] ?? process.arch }

const stages: Readonly<Record<BuildTransition, string>> = {
  start: "Starting workspace",
  stop: "Stopping workspace",
  delete: "Destroying workspace"
}

const say = (log: LogSink, stage: string, output: string, level: LogLevel = "info") => log({ source: "provisioner", level, stage, output })

const refusal = (problems: ReadonlyArray<Problem>) => new ProvisionFailure({ message: formatProblems(problems) })

/** Which engine a template is for is looked up in its lines: a template that names another in a way of its own would be built here. */
const readLocal = (files: ReadonlyMap<string, ArchiveFile>) =>
  Effect.filterOrFail(
    readTemplate(files),
    ({ definition }) => definition.engine === "local",
    ({ definition, yaml }) => [yaml.problem(["engine"], `engine: must be a line of its own, "engine: ${definition.engine}"`)]
  )

const evaluationFailure = (failure: EvaluationFailure): ProvisionFailure =>
  failure._tag === "Problems"
    ? refusal(failure.problems)
    : new ProvisionFailure({
        message: `required template variables have no value: ${failure.names.join(", ")}`,
        code: "REQUIRED_TEMPLATE_VARIABLES"
      })

const workspaceFailure = ({ message, state }: LocalWorkspaceError) =>
  new ProvisionFailure(state === undefined ? { message } : { message, state: encodeState(state) })

/** The service checks values when a build is asked for; a template may have changed since. */
const checkParameters = ({ parameterProblems }: Evaluation): Effect.Effect<void, ProvisionFailure> => {
  if (parameterProblems.length === 0) return Effect.void
  const missing = parameterProblems.filter((problem) => problem.missing).map(({ name }) => name)
  return missing.length > 0
    ? new ProvisionFailure({ message: `missing parameter: ${missing.join(", ")}`, code: "MISSING_TEMPLATE_PARAMETER" })
    : new ProvisionFailure({ message: parameterProblems.map(({ cause, name }) => `parameter ${name}: ${cause}`).join("\n") })
}

const readmeOf = (files: ReadonlyMap<string, ArchiveFile>): Effect.Effect<string, ProvisionFailure> => {
  const bytes = files.get("README.md")?.bytes ?? new Uint8Array(0)
  if (bytes.byteLength > maximumReadme) return new ProvisionFailure({ message: `README.md is larger than ${maximumReadme} bytes` })
  const readme = new TextDecoder().decode(bytes)
  const nul = readme.indexOf("\0")
  if (nul < 0) return Effect.succeed(readme)
  const before = readme.slice(0, nul).split("\n")
  const place = { file: "README.md", line: before.length, column: (before.at(-1) ?? "").length + 1 }
  return refusal([{ ...place, cause: "must not contain the character U+0000" }])
}

const previousState = ({ state }: PlanInput): Effect.Effect<WorkspaceState | undefined, ProvisionFailure> =>
  Either.mapLeft(decodeState(state), ({ message }) => new ProvisionFailure({ message }))

const nothing: Plan = { resources: [], parameters: [], presets: [], daily_cost: 0, has_ai_task: false, has_external_agent: false }

/** The resource of a stopped workspace whose template can no longer be evaluated. */
const bareResource = ({ metadata }: PlanInput): ProvisionedResource => ({
  name: metadata.template_name || "workspace",
  type: resourceType,
  icon: "",
  hide: false,
  daily_cost: 0,
  instance_type: "",
  module_path: "",
  metadata: [],
  agents: []
})

/** A port of the loopback interface that nothing listens on now. */
const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(Effect.die(error)))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const toStart = (directory: string, { auth, directory: inside, name }: ProvisionedAgent): WorkspaceStart["agents"] =>
  auth._tag === "Token" ? [{ name, token: auth.token, directory: relative(directory, inside) }] : []

/** How sources of `template.yaml` are opened, whose workspaces are the given ones. */
export const open = (workspaces: LocalWorkspaces["Type"], ids: Ids["Type"]): Engine["open"] => {
  const evaluated = (
    template: Template,
    input: PlanInput,
    known?: number
  ): Effect.Effect<Evaluation & { readonly port: number }, ProvisionFailure> =>
    Effect.gen(function* () {
      const tokens = new Map<string, Uuid.Uuid>()
      const spare = yield* ids.secret
      for (const { name } of template.definition.agents) tokens.set(name, yield* ids.secret)
      const directory = workspaces.directoryOf(input.metadata.workspace_id)
      const port = known ?? (input.metadata.transition === "start" ? yield* freePort : 0)
      const evaluation = yield* Either.mapLeft(
        evaluate(template, input, { directory, platform, port, token: (agent) => tokens.get(agent) ?? spare }),
        evaluationFailure
      )
      return { ...evaluation, port }
    })

  const start = (
    input: PlanInput,
    evaluation: Evaluation & { readonly port: number },
    previous: WorkspaceState | undefined,
    report: Report
  ): Effect.Effect<Applied, ProvisionFailure> => {
    const { files, plan, port, taskApp } = evaluation
    const { access_url, workspace_build_id, workspace_id } = input.metadata
    const agents = plan.resources
      .flatMap((resource) => resource.agents)
      .flatMap((agent) => toStart(workspaces.directoryOf(workspace_id), agent))
    return workspaces.start({ workspace_id, workspace_build_id, access_url, agents, files, port }, previous, report).pipe(
      Effect.map((state) => ({
        resources: plan.resources.map((resource) => withAppIds(workspace_id, resource)),
        task_app_id: taskApp === undefined ? undefined : appId(workspace_id, taskApp),
        state: encodeState(state)
      })),
      Effect.mapError(workspaceFailure)
    )
  }

  const handOver = handOvers({ workspaces, evaluated })

  return (source, log) =>
    Effect.gen(function* () {
      const files = yield* Effect.mapError(
        readFiles(source),
        ({ message }) => new ProvisionFailure({ message: `the template's ${message}` })
      )
      yield* say(log, "Setting up", `The template's source has ${files.size} files.`)
      const template = yield* madeOnce(Effect.mapError(readLocal(files), refusal))

      return {
        parse: Effect.gen(function* () {
          const read = yield* template
          const variables = templateVariables(read)
          yield* say(
            log,
            "Parsing template parameters",
            `Variables: ${variables.length}, parameters: ${read.definition.parameters.length}, agents: ${read.definition.agents.length}.`
          )
          return {
            variables,
            readme: yield* readmeOf(files),
            workspace_tags: Object.fromEntries(Object.entries(read.definition.tags).map(([key, text]) => [key, text.source]))
          }
        }),

        preview: (input) => Effect.flatMap(template, (read) => Effect.mapError(preview(read, input), evaluationFailure)),

        workspaceTags: (input) =>
          Effect.gen(function* () {
            const { plan } = yield* evaluated(yield* template, { ...input, previous_parameters: [], state: new Uint8Array(0) })
            return plan.workspace_tags ?? {}
          }),

        handOver: (input) =>
          Effect.gen(function* () {
            const previous = yield* previousState(input)
            return yield* handOver(yield* template, input, previous)
          }),

        plan: (input) =>
          Effect.gen(function* () {
            const stage = "Planning Infrastructure"
            yield* previousState(input)
            if (input.metadata.transition === "delete") return nothing
            const read = yield* template
            for (const warning of read.warnings) yield* say(log, stage, formatProblem(warning), "warn")
            const { plan } = yield* evaluated(read, input)
            for (const { agents, name, type } of plan.resources)
              yield* say(log, stage, `${type}.${name}, agents: ${agents.map((agent) => agent.name).join(", ") || "none"}`)
            return plan
          }),

        apply: (input) =>
          Effect.gen(function* () {
            const { transition, workspace_id } = input.metadata
            const stage = stages[transition]
            const report: Report = (line) => say(log, stage, line)
            const previous = yield* previousState(input)
            switch (transition) {
              case "start": {
                const evaluation = yield* evaluated(yield* template, input)
                yield* checkParameters(evaluation)
                return yield* start(input, evaluation, previous, report)
              }
              case "stop": {
                const stopped = yield* Effect.mapError(workspaces.stop(input.metadata, previous, report), workspaceFailure)
                const resources = yield* template.pipe(
                  Effect.flatMap((read) => evaluated(read, input)),
                  Effect.map(({ plan }) => plan.resources),
                  Effect.catchAll(({ message }) => Effect.as(say(log, stage, message, "warn"), [bareResource(input)]))
                )
                return { resources, state: encodeState(stopped) }
              }
              case "delete":
                yield* Effect.mapError(workspaces.remove(workspace_id, previous, report, input.unfinished), workspaceFailure)
                return { resources: [], state: new Uint8Array(0) }
            }
          })
      }
    })
}
