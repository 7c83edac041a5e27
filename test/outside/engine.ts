/** An engine for tests: a template is a file `template.json` that says what the engine answers. */
import { Uuid } from "@atelier/core/platform"
import {
  type Applied,
  type Engine,
  type LogSink,
  type ParameterValue,
  type Plan,
  type PlanInput,
  type ProvisionedAgent,
  type ProvisionedResource,
  ProvisionerEngines,
  type ProvisionerSession,
  ProvisionFailure,
  type RichParameter,
  type TemplateVariable
} from "@atelier/core/provisioning"
import { Effect, Layer } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { extract } from "tar-stream"
import { aResource, anAgent, anApp } from "../records/resources.js"

/** A resource whose agents are written with the fields that count. */
export interface TestResource extends Partial<Omit<ProvisionedResource, "agents">> {
  readonly agents?: ReadonlyArray<Partial<ProvisionedAgent>>
}

/** A template of the test engine; absent parts are empty. */
export interface TestTemplate {
  readonly readme?: string
  readonly variables?: ReadonlyArray<Partial<TemplateVariable> & { readonly name: string }>
  readonly workspace_tags?: Readonly<Record<string, string>>
  readonly parameters?: ReadonlyArray<Partial<RichParameter> & { readonly name: string }>
  readonly presets?: Plan["presets"]
  /**
   * In a text, `{token:NAME}` is a new token of every build, the same for the same name; `{parameter.NAME}` is a parameter's value, and
   * `{workspace.name}`, `{owner.name}`, `{workspace.is_prebuild}` and `{workspace.is_prebuild_claim}` tell what the build is for.
   */
  readonly resources?: ReadonlyArray<TestResource>
  /** What only a start makes. */
  readonly started?: ReadonlyArray<TestResource>
  readonly has_external_agent?: boolean
  readonly external_auth?: Plan["external_auth_providers"]
  /** The slug of the app that works on tasks. */
  readonly task_app?: string
  /** The parameter with the transition whose builds fail. */
  readonly fails_by?: string
  /** The parameter that keeps a start from ever ending, unless it is 0. */
  readonly hangs_by?: string
  /** Lines that each plan writes. */
  readonly logs?: ReadonlyArray<string>
  /** Running workspaces of the pool are handed over to their owners. Scripts called "Owner" run when a workspace has one. */
  readonly hands_over?: boolean
  /** Resources that every build makes anew. */
  readonly replaces?: Applied["replacements"]
  /** The builds that make prebuilt workspaces fail. */
  readonly fails_prebuilds?: boolean
  /** What a build costs a day, by what it is for; 0 where it is not said. */
  readonly daily_cost?: { readonly start?: number; readonly stop?: number; readonly delete?: number }
  /** The step that never ends. */
  readonly hangs?: "parse" | "plan" | "apply"
  /** What hangs cannot be interrupted. */
  readonly stubborn?: boolean
  /** The step that fails. */
  readonly fails?: "parse" | "plan" | "apply"
  /** Workspaces of this name are never planned to the end. */
  readonly hangs_for?: string
}

export const templateFile = "template.json"

/** The template in an archive. */
const read = (tar: Uint8Array): Promise<TestTemplate> =>
  new Promise((resolve, reject) => {
    const reader = extract()
    const chunks: Array<Buffer> = []
    reader.on("entry", ({ name }, content, next) => {
      content.on("data", (chunk: Buffer) => name === templateFile && chunks.push(chunk))
      content.on("end", next)
    })
    reader.once("error", reject)
    reader.once("finish", () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as TestTemplate))
    reader.end(Buffer.from(tar))
  })

export const aParameter = (fields: Partial<RichParameter> & { readonly name: string }): RichParameter => ({
  display_name: "",
  description: "",
  type: "string",
  form_type: "input",
  mutable: false,
  ephemeral: false,
  required: fields.default_value === undefined,
  default_value: "",
  icon: "",
  options: [],
  validation_regex: "",
  validation_error: "",
  validation_min: null,
  validation_max: null,
  validation_monotonic: "",
  order: 0,
  ...fields
})

const aVariable = (fields: Partial<TemplateVariable> & { readonly name: string }): TemplateVariable => ({
  description: "",
  type: "string",
  default_value: "",
  required: fields.default_value === undefined,
  sensitive: false,
  ...fields
})

const valueIn = (values: ReadonlyArray<ParameterValue>, name: string): string | undefined =>
  values.find((value) => value.name === name)?.value

/** A token that a workspace's builds have in common: of a prebuilt workspace and its claim. */
export const lastingToken = (workspaceId: string, name: string): string => {
  const digits = createHash("sha256").update(`${workspaceId} ${name}`).digest("hex")
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}

/** A part of a template with its placeholders filled in. */
const filled = <A>(part: A, values: ReadonlyArray<ParameterValue>, metadata?: PlanInput["metadata"]): A => {
  const stage = metadata?.prebuilt_workspace_stage
  const tokens = new Map<string, string>()
  const token = (name: string): string => {
    const fresh = metadata === undefined || stage === undefined ? randomUUID() : lastingToken(metadata.workspace_id, name)
    const known = tokens.get(name) ?? fresh
    tokens.set(name, known)
    return known
  }
  const text = JSON.stringify(part)
    .replaceAll(/\{token:(\w+)\}/g, (_, name: string) => token(name))
    .replaceAll(/\{parameter\.(\w+)\}/g, (_, name: string) => valueIn(values, name) ?? "")
    .replaceAll("{workspace.name}", metadata?.workspace_name ?? "")
    .replaceAll("{owner.name}", metadata?.owner_username ?? "")
    .replaceAll("{workspace.prebuild_count}", stage === "create" ? "1" : "0")
    .replaceAll("{workspace.is_prebuild}", String(stage === "create"))
    .replaceAll("{workspace.is_prebuild_claim}", String(stage === "claim"))
  return JSON.parse(text) as A
}

const resourceOf = ({ agents = [], ...resource }: TestResource): ProvisionedResource =>
  aResource({ ...resource, agents: agents.map((agent) => anAgent({ ...agent, apps: (agent.apps ?? []).map(anApp) })) })

/** The id of a workspace's task app, which is the same in each of its builds. */
const taskAppId = (workspaceId: Uuid.Uuid): Uuid.Uuid => Uuid.Uuid.make(`00000000${workspaceId.slice(8)}`)

const withTaskApp = (resources: ReadonlyArray<ProvisionedResource>, { task_app }: TestTemplate, id: Uuid.Uuid) =>
  resources.map((resource) => ({
    ...resource,
    agents: resource.agents.map((agent) => ({
      ...agent,
      apps: agent.apps.map((app) => (app.slug === task_app ? { ...app, id } : app))
    }))
  }))

const withOwnerScripts = (resource: ProvisionedResource, { prebuilt_workspace_stage }: PlanInput["metadata"]) => ({
  ...resource,
  agents: resource.agents.map((agent) => ({
    ...agent,
    scripts: agent.scripts.map((script) =>
      script.display_name === "Owner" ? { ...script, run_on_start: prebuilt_workspace_stage !== "create" } : script
    )
  }))
})

/** The resource with tokens of its own for its agents. */
const withNewTokens = (resource: ProvisionedResource): ProvisionedResource => ({
  ...resource,
  agents: resource.agents.map((agent) => ({ ...agent, auth: { _tag: "Token", token: Uuid.Uuid.make(randomUUID()) } }))
})

const session = (template: TestTemplate, log: LogSink): ProvisionerSession => {
  const hang = template.stubborn ? Effect.uninterruptible(Effect.never) : Effect.never
  const step = (name: "parse" | "plan" | "apply"): Effect.Effect<void, ProvisionFailure> => {
    if (template.hangs === name) return hang
    return template.fails === name ? new ProvisionFailure({ message: `${name} failed as it was told` }) : Effect.void
  }
  const say = Effect.forEach(
    template.logs ?? [],
    (output) => log({ source: "provisioner", level: "info", stage: "Planning Infrastructure", output }),
    { discard: true }
  )
  const parameters = (template.parameters ?? []).map(aParameter)
  const defaults = parameters.map(({ default_value, name }) => ({ name, value: default_value }))
  /** The step that a build's parameters ask for. */
  const asked = ({ metadata, parameters: values }: PlanInput): Effect.Effect<void, ProvisionFailure> => {
    const { fails_by, fails_prebuilds, hangs_by } = template
    if (fails_prebuilds === true && metadata.prebuilt_workspace_stage === "create") {
      return new ProvisionFailure({ message: "failed as its template told" })
    }
    if (fails_by !== undefined && valueIn(values, fails_by) === metadata.transition) {
      return new ProvisionFailure({ message: "failed as its parameter told" })
    }
    return hangs_by !== undefined && metadata.transition === "start" && valueIn(values, hangs_by) !== "0" ? hang : Effect.void
  }
  const resources = ({ metadata, parameters: values }: PlanInput): ReadonlyArray<ProvisionedResource> => {
    const started = metadata.transition === "start" ? (template.started ?? []) : []
    return filled([...(template.resources ?? []), ...started], values, metadata)
      .map(resourceOf)
      .map((resource) => (template.hands_over === true ? withOwnerScripts(resource, metadata) : resource))
  }
  const tagsOf = (tags: NonNullable<TestTemplate["workspace_tags"]>): Pick<ProvisionerSession, "workspaceTags"> => ({
    workspaceTags: ({ parameters: values }) => Effect.succeed(filled(tags, [...values, ...defaults]))
  })
  const applied = (input: PlanInput) => {
    const id = taskAppId(input.metadata.workspace_id)
    return {
      resources: withTaskApp(resources(input), template, id),
      task_app_id: template.task_app === undefined ? undefined : id,
      ...(template.replaces === undefined ? {} : { replacements: template.replaces })
    }
  }
  const plan = (input: PlanInput): Plan => ({
    resources: resources(input),
    parameters,
    presets: template.presets ?? [],
    ...(template.workspace_tags === undefined
      ? {}
      : { workspace_tags: filled(template.workspace_tags, [...input.parameters, ...defaults]) }),
    daily_cost: template.daily_cost?.[input.metadata.transition] ?? 0,
    has_ai_task: template.task_app !== undefined,
    has_external_agent: template.has_external_agent === true && input.metadata.transition === "start",
    ...(template.external_auth === undefined ? {} : { external_auth_providers: template.external_auth })
  })
  const handsOver: Pick<ProvisionerSession, "handOver"> = {
    handOver: (input) =>
      Effect.sync(() => {
        const made = applied(input)
        const state = new TextEncoder().encode("handed over")
        return { plan: plan(input), applied: { ...made, resources: made.resources.map(withNewTokens), state }, settle: Effect.void }
      })
  }
  return {
    ...(template.hands_over === true ? handsOver : {}),
    parse: Effect.as(step("parse"), {
      variables: (template.variables ?? []).map(aVariable),
      readme: template.readme ?? "",
      workspace_tags: filled(template.workspace_tags ?? {}, defaults)
    }),
    ...(template.workspace_tags === undefined ? {} : tagsOf(template.workspace_tags)),
    plan: (input) =>
      step("plan").pipe(
        Effect.zipRight(input.metadata.workspace_name === template.hangs_for ? hang : say),
        Effect.map(() => plan(input))
      ),
    apply: (input) =>
      step("apply").pipe(
        Effect.zipRight(asked(input)),
        Effect.map(() => ({ ...applied(input), state: new TextEncoder().encode("applied") }))
      )
  }
}

export const testEngine: Engine = {
  name: "test",
  repeatable: new Set(["parse", "plan"]),
  understands: ({ paths }) => paths.includes(templateFile),
  open: (source, log) =>
    Effect.map(
      Effect.promise(() => read(source)),
      (template) => session(template, log)
    )
}

export const testEngines = Layer.succeed(ProvisionerEngines, [testEngine])
