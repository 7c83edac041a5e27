/**
 * A template with values in it: what a build of it would be. Pure; the same template and values answer the same.
 */
import { Uuid } from "@atelier/core/platform"
import type { ParameterForm, ParameterValue, Plan, PlanInput, Preset, PreviewInput, ProvisionedAgent } from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { join } from "node:path/posix"
import { type Place, provisionedAgent } from "./AgentEvaluation.js"
import { maximumArchiveSize, maximumEntries } from "../engine/Archive.js"
import { Evaluator, maximumScript } from "./Evaluator.js"
import { evaluateForm, type ParameterProblem, resolveParameters, resolveVariables } from "./ParameterEvaluation.js"
import type { ContainerSpec } from "../container/ContainerSpec.js"
import { containerSpec } from "../container/SpecEvaluation.js"
import type { File } from "./TemplateFile.js"
import { sourceFiles } from "./SourceFiles.js"
import type { Template } from "./TemplateSource.js"
import type { Path, Problem } from "./YamlSource.js"

/** A file the template puts into the workspace. */
export interface PlacedFile {
  /** Relative to the workspace's directory. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly mode: number
  readonly overwrite: boolean
}

export interface Evaluation {
  readonly plan: Plan
  /** The slug of the app that works on the workspace's task; undefined without a task. */
  readonly taskApp: string | undefined
  readonly files: ReadonlyArray<PlacedFile>
  /** Of the agents that run in containers. */
  readonly containers: ReadonlyArray<ContainerSpec>
  readonly parameterProblems: ReadonlyArray<ParameterProblem>
}

/** Why a template and values make no build. */
export type EvaluationFailure =
  | { readonly _tag: "MissingVariables"; readonly names: ReadonlyArray<string> }
  | { readonly _tag: "Problems"; readonly problems: ReadonlyArray<Problem> }

const presetsOf = (evaluator: Evaluator): ReadonlyArray<Preset> =>
  evaluator.template.definition.presets.map((preset, index) => ({
    name: preset.name,
    description: preset.description ?? "",
    icon: preset.icon ?? "",
    default: preset.default,
    parameters: Object.entries(preset.parameters).map(([name, value]): ParameterValue => ({
      name,
      value: evaluator.value(value, ["presets", index, "parameters", name])
    })),
    desired_prebuild_instances: preset.prebuilds?.instances ?? null,
    prebuild_policy: {
      ttl_seconds: preset.prebuilds?.expiration_policy?.ttl ?? 0,
      timezone: preset.prebuilds?.scheduling?.timezone ?? "",
      schedule: preset.prebuilds?.scheduling?.schedule ?? []
    }
  }))

const placedFiles = (evaluator: Evaluator, file: File, path: Path): ReadonlyArray<PlacedFile> => {
  const target = evaluator.pathBeneath(file.path, [...path, "path"])
  if (target === undefined) return []
  const mode = file.mode === undefined ? undefined : Number.parseInt(file.mode, 8)
  const { overwrite } = file
  const files =
    file.source === undefined
      ? [
          {
            path: target,
            bytes: new TextEncoder().encode(evaluator.text(file.content, [...path, "content"], maximumScript)),
            mode: mode ?? 0o644,
            overwrite
          }
        ]
      : sourceFiles(evaluator.template.files.keys(), file.source).flatMap(({ path, relative }) => {
          const found = evaluator.template.files.get(path)
          return found === undefined ? [] : [{ path: join(target, relative), bytes: found.bytes, mode: mode ?? found.mode, overwrite }]
        })
  if (files.some(({ path }) => path === "" || path === "."))
    evaluator.report([...path, "path"], "names the workspace's directory itself, not a file")
  return files
}

/** Files a template may write, and their bytes together: what an archive may hold, however often its parts are used. */
const maximumPlaced = { files: maximumEntries, bytes: maximumArchiveSize }

/** The files of all entries; none of them where they are too many, found out before they fill the memory. */
const allPlacedFiles = (evaluator: Evaluator): ReadonlyArray<PlacedFile> => {
  const all: Array<PlacedFile> = []
  let bytes = 0
  const entries = evaluator.present(evaluator.template.definition.files, ["files"], (file, path) => ({ file, path }))
  for (const { file, path } of entries) {
    for (const placed of placedFiles(evaluator, file, path)) {
      all.push(placed)
      bytes += placed.bytes.byteLength
    }
    if (all.length <= maximumPlaced.files && bytes <= maximumPlaced.bytes) continue
    const isTooMany = all.length > maximumPlaced.files
    evaluator.report(["files"], isTooMany ? `are more than ${maximumPlaced.files} files` : `are larger than ${maximumPlaced.bytes} bytes`)
    return []
  }
  return all
}

/** The app that works on the task, where both exist in this build. */
const presentTask = (evaluator: Evaluator, agents: ReadonlyArray<ProvisionedAgent>): string | undefined => {
  const task = evaluator.template.definition.ai_task
  if (task === undefined || !evaluator.exists(task.when, ["ai_task"])) return undefined
  const exists = agents.some(({ apps }) => apps.some(({ slug }) => slug === task.app))
  if (!exists) evaluator.report(["ai_task", "app"], `the app "${task.app}" does not exist in this build`)
  return exists ? task.app : undefined
}

/** The place of a workspace that does not exist yet. Parameters cannot refer to it. */
const nowhere: Pick<Place, "port" | "token"> = { port: 0, token: () => Uuid.nil }

/** The template's parameters as a user who fills them in is shown them. */
export const preview = (template: Template, input: PreviewInput): Effect.Effect<ParameterForm, EvaluationFailure> =>
  Effect.suspend(() => {
    const evaluator = new Evaluator(template, input, nowhere)
    const missing = resolveVariables(evaluator)
    if (missing.length > 0) return Effect.fail<EvaluationFailure>({ _tag: "MissingVariables", names: missing })
    if (evaluator.problems.length > 0) return Effect.fail<EvaluationFailure>({ _tag: "Problems", problems: evaluator.problems })
    return evaluateForm(evaluator)
  })

/** Returns the result of a build of the template with these values. */
export const evaluate = (template: Template, input: PlanInput, place: Place): Either.Either<Evaluation, EvaluationFailure> => {
  const evaluator = new Evaluator(template, input, place)
  const { definition } = template
  const { transition } = input.metadata
  const missing = resolveVariables(evaluator)
  if (missing.length > 0) return Either.left({ _tag: "MissingVariables", names: missing })
  const { parameters, problems: parameterProblems } = resolveParameters(evaluator)
  const presets = presetsOf(evaluator)
  const tags = Object.entries(definition.tags).map(([key, text]) => [key, evaluator.text(text, ["tags", key], 1024)] as const)
  const isComplete = parameterProblems.length === 0
  const made =
    transition === "start"
      ? evaluator.present(definition.agents, ["agents"], ({ container, ...agent }, path) => ({
          agent: provisionedAgent(evaluator, place, agent, path),
          containers: container === undefined ? [] : [containerSpec(evaluator, isComplete, { name: agent.name, container }, path)]
        }))
      : []
  const agents = made.map(({ agent }) => agent)
  const task = transition === "start" ? presentTask(evaluator, agents) : undefined
  const resource = {
    name: definition.metadata?.name ?? (input.metadata.template_name || "workspace"),
    type: place.resourceType,
    icon: evaluator.text(definition.metadata?.icon, ["metadata", "icon"], 256),
    hide: definition.metadata?.hide ?? false,
    daily_cost: definition.metadata?.daily_cost ?? 0,
    instance_type: "",
    module_path: "",
    metadata: evaluator.present(definition.metadata?.items ?? [], ["metadata", "items"], ({ key, sensitive, value }, path) => ({
      key,
      value: evaluator.scalar(value, [...path, "value"]),
      sensitive
    })),
    agents
  }
  const files = transition === "start" ? allPlacedFiles(evaluator) : []
  if (evaluator.problems.length > 0) return Either.left({ _tag: "Problems", problems: evaluator.problems })
  return Either.right({
    plan: {
      resources: transition === "delete" ? [] : [resource],
      parameters,
      presets,
      workspace_tags: Object.fromEntries(tags),
      daily_cost: transition === "delete" ? 0 : resource.daily_cost,
      has_ai_task: task !== undefined,
      has_external_agent: false,
      ...(definition.external_auth.length === 0 ? {} : { external_auth_providers: definition.external_auth })
    },
    taskApp: task,
    files,
    containers: made.flatMap(({ containers }) => containers),
    parameterProblems
  })
}
