/** An engine for tests: a template is a file `template.json` that says what the engine answers. */
import {
  type Engine,
  type LogSink,
  type Plan,
  type ProvisionedResource,
  ProvisionerEngines,
  type ProvisionerSession,
  ProvisionFailure,
  type RichParameter,
  type TemplateVariable
} from "@atelier/core/provisioning"
import { Effect, Layer } from "effect"
import { extract } from "tar-stream"

/** What a template of the test engine is made of; what is absent is empty. */
export interface TestTemplate {
  readonly readme?: string
  readonly variables?: ReadonlyArray<Partial<TemplateVariable> & { readonly name: string }>
  readonly workspace_tags?: Readonly<Record<string, string>>
  readonly parameters?: ReadonlyArray<Partial<RichParameter> & { readonly name: string }>
  readonly presets?: Plan["presets"]
  readonly resources?: ReadonlyArray<ProvisionedResource>
  /** Lines that each plan writes. */
  readonly logs?: ReadonlyArray<string>
  /** What a build costs a day, by what it is for; 0 where it is not said. */
  readonly daily_cost?: { readonly start?: number; readonly stop?: number; readonly delete?: number }
  /** The step that never ends. */
  readonly hangs?: "parse" | "plan" | "apply"
  /** What hangs cannot be interrupted. */
  readonly stubborn?: boolean
  /** The step that fails. */
  readonly fails?: "parse" | "plan" | "apply"
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

const session = (template: TestTemplate, log: LogSink): ProvisionerSession => {
  const step = (name: "parse" | "plan" | "apply"): Effect.Effect<void, ProvisionFailure> => {
    if (template.hangs === name) return template.stubborn ? Effect.uninterruptible(Effect.never) : Effect.never
    return template.fails === name ? new ProvisionFailure({ message: `${name} failed as it was told` }) : Effect.void
  }
  const say = Effect.forEach(
    template.logs ?? [],
    (output) => log({ source: "provisioner", level: "info", stage: "Planning Infrastructure", output }),
    { discard: true }
  )
  const plan: Plan = {
    resources: template.resources ?? [],
    parameters: (template.parameters ?? []).map(aParameter),
    presets: template.presets ?? [],
    ...(template.workspace_tags === undefined ? {} : { workspace_tags: template.workspace_tags }),
    daily_cost: 0,
    has_ai_task: false,
    has_external_agent: false
  }
  return {
    parse: Effect.as(step("parse"), {
      variables: (template.variables ?? []).map(aVariable),
      readme: template.readme ?? "",
      workspace_tags: template.workspace_tags ?? {}
    }),
    plan: ({ metadata }) =>
      step("plan").pipe(Effect.zipRight(say), Effect.as({ ...plan, daily_cost: template.daily_cost?.[metadata.transition] ?? 0 })),
    apply: () => Effect.as(step("apply"), { resources: plan.resources, state: new TextEncoder().encode("applied") })
  }
}

export const testEngine: Engine = {
  type: "echo",
  repeatable: new Set(["parse", "plan"]),
  understands: (paths) => paths.includes(templateFile),
  open: (source, log) =>
    Effect.map(
      Effect.promise(() => read(source)),
      (template) => session(template, log)
    )
}

export const testEngines = Layer.succeed(ProvisionerEngines, [testEngine])
