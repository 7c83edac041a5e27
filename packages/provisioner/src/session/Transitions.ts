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
import type { ArchiveFile } from "../engine/Archive.js"
import type { Evaluation } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"
import { appId, withAppIds } from "./AppIds.js"
import type { PlacedEvaluation, Report, TemplateActionFailure, TemplateEngine, TemplateStart, TemplateState } from "./TemplateEngine.js"

const stages: Readonly<Record<BuildTransition, string>> = {
  start: "Starting workspace",
  stop: "Stopping workspace",
  delete: "Destroying workspace"
}

export const say = (log: LogSink, stage: string, output: string, level: LogLevel = "info") =>
  log({ source: "provisioner", level, stage, output })

/** The state that a build was given, of an engine. */
export const previousState = <State extends TemplateState>(
  { decode }: Pick<TemplateEngine<State>, "decode">,
  { state }: PlanInput
): Effect.Effect<State | undefined, ProvisionFailure> => Either.mapLeft(decode(state), ({ message }) => new ProvisionFailure({ message }))

/** The service checks values when a build is asked for; a template may have changed since. */
const checkParameters = ({ parameterProblems }: Evaluation): Effect.Effect<void, ProvisionFailure> => {
  if (parameterProblems.length === 0) return Effect.void
  const missing = parameterProblems.filter((problem) => problem.missing).map(({ name }) => name)
  return missing.length > 0
    ? new ProvisionFailure({ message: `missing parameter: ${missing.join(", ")}`, code: "MISSING_TEMPLATE_PARAMETER" })
    : new ProvisionFailure({ message: parameterProblems.map(({ cause, name }) => `parameter ${name}: ${cause}`).join("\n") })
}

/** The resource of a stopped workspace whose template can no longer be evaluated. */
const bareResource = (type: string, { metadata }: PlanInput): ProvisionedResource => ({
  name: metadata.template_name || "workspace",
  type,
  icon: "",
  hide: false,
  daily_cost: 0,
  instance_type: "",
  module_path: "",
  metadata: [],
  agents: []
})

const toStart = (agent: ProvisionedAgent): TemplateStart["agents"] =>
  agent.auth._tag === "Token" ? [{ name: agent.name, token: agent.auth.token, agent }] : []

type Source = Effect.Effect<Template, ProvisionFailure>

/** Carries out the transitions of builds: starts, stops and removes workspaces. */
export const transitions = <State extends TemplateState>(engine: TemplateEngine<State>) => {
  const { encode, evaluated, resourceType } = engine
  const failure = ({ message, state }: TemplateActionFailure<State>) =>
    new ProvisionFailure(state === undefined ? { message } : { message, state: encode(state) })

  const start = (
    input: PlanInput,
    evaluation: PlacedEvaluation,
    source: ReadonlyMap<string, ArchiveFile>,
    previous: State | undefined,
    report: Report
  ): Effect.Effect<Applied, ProvisionFailure> => {
    const { plan, taskApp } = evaluation
    const { workspace_id } = input.metadata
    const agents = plan.resources.flatMap((resource) => resource.agents).flatMap(toStart)
    return engine.start({ metadata: input.metadata, evaluation, agents, source }, previous, report).pipe(
      Effect.map(({ metadata = [], state, timings }) => ({
        resources: plan.resources.map((resource) =>
          withAppIds(workspace_id, { ...resource, metadata: [...resource.metadata, ...metadata] })
        ),
        task_app_id: taskApp === undefined ? undefined : appId(workspace_id, taskApp),
        state: encode(state),
        ...(timings === undefined ? {} : { timings })
      })),
      Effect.mapError(failure)
    )
  }

  return (template: Source, input: PlanInput, log: LogSink): Effect.Effect<Applied, ProvisionFailure> =>
    Effect.gen(function* () {
      const { transition, workspace_id } = input.metadata
      const stage = stages[transition]
      const report: Report = (line) => say(log, stage, line)
      const previous = yield* previousState(engine, input)
      switch (transition) {
        case "start": {
          const read = yield* template
          const port = engine.portFor === undefined ? undefined : yield* Effect.mapError(engine.portFor(workspace_id), failure)
          const evaluation = yield* evaluated(read, input, port)
          yield* checkParameters(evaluation)
          return yield* start(input, evaluation, read.files, previous, report)
        }
        case "stop": {
          const stopped = yield* Effect.mapError(engine.stop(input.metadata, previous, report), failure)
          const resources = yield* template.pipe(
            Effect.flatMap((read) => evaluated(read, input)),
            Effect.map(({ plan }) => plan.resources),
            Effect.catchAll(({ message }) => Effect.as(say(log, stage, message, "warn"), [bareResource(resourceType, input)]))
          )
          return { resources, state: encode(stopped) }
        }
        case "delete":
          yield* Effect.mapError(engine.remove(workspace_id, previous, report, input.unfinished), failure)
          return { resources: [], state: new Uint8Array(0) }
      }
    })
}
