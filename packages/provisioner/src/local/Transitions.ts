import type { LogLevel } from "@atelier/core/platform"
import {
  type Applied,
  type BuildTransition,
  type LogSink,
  type PlanInput,
  type ProvisionedAgent,
  type ProvisionedResource,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { relative } from "node:path/posix"
import type { Evaluation } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"
import { appId, withAppIds } from "./AppIds.js"
import { type LocalEvaluation, resourceType } from "./LocalEvaluation.js"
import type { LocalWorkspaces } from "./LocalWorkspaces.js"
import type { LocalWorkspaceError, Report, WorkspaceStart } from "./WorkspaceBuild.js"
import { decodeState, encodeState, type WorkspaceState } from "./WorkspaceState.js"

const stages: Readonly<Record<BuildTransition, string>> = {
  start: "Starting workspace",
  stop: "Stopping workspace",
  delete: "Destroying workspace"
}

export const say = (log: LogSink, stage: string, output: string, level: LogLevel = "info") =>
  log({ source: "provisioner", level, stage, output })

export const previousState = ({ state }: PlanInput): Effect.Effect<WorkspaceState | undefined, ProvisionFailure> =>
  Either.mapLeft(decodeState(state), ({ message }) => new ProvisionFailure({ message }))

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

const toStart = (directory: string, { auth, directory: inside, name }: ProvisionedAgent): WorkspaceStart["agents"] =>
  auth._tag === "Token" ? [{ name, token: auth.token, directory: relative(directory, inside) }] : []

type Source = Effect.Effect<Template, ProvisionFailure>

interface Needs {
  readonly workspaces: LocalWorkspaces["Type"]
  readonly evaluated: (template: Template, input: PlanInput) => Effect.Effect<LocalEvaluation, ProvisionFailure>
}

/** Carries out the transitions of builds: starts, stops and removes workspaces. */
export const transitions = ({ evaluated, workspaces }: Needs) => {
  const start = (
    input: PlanInput,
    evaluation: LocalEvaluation,
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

  return (template: Source, input: PlanInput, log: LogSink): Effect.Effect<Applied, ProvisionFailure> =>
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
