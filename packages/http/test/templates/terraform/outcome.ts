/**
 * What was recorded of a template: imports, forms, dry runs and builds. Each file has a head and a step in each line. Most steps are those of
 * conversations (`test/http/scenarios.ts`). The steps below are short for calls whose answers are long. Fields with their usual value are left out of these.
 *
 * `differs` is why a step, or a parameter of a form, expects something else than was recorded: a key of `differences.json`.
 */
import { Schema } from "effect"

const texts = Schema.Record({ key: Schema.String, value: Schema.String })
const rows = Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const keep = Schema.optionalWith(texts, { default: () => ({}) })
const person = { as: Schema.optional(Schema.String) }
const differs = { note: Schema.optional(Schema.String), differs: Schema.optional(Schema.String) }

/** A form with values. A parameter that is a text is as in the last form that had it otherwise. */
const Form = Schema.Struct({
  ...person,
  ...differs,
  /** What the values try. */
  form: Schema.String,
  version: Schema.String,
  owner: Schema.optionalWith(Schema.String, { default: () => "{admin}" }),
  inputs: Schema.optionalWith(texts, { default: () => ({}) }),
  diagnostics: Schema.optionalWith(Schema.Array(Schema.Unknown), { default: () => [] }),
  parameters: Schema.NullOr(Schema.Array(Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Schema.Unknown }))))
})

/** The message of a stream that shows the same as the form with a note. */
const Shown = Schema.Struct({ ...differs, shown: Schema.String, id: Schema.Number, form: Schema.String })

/** How an import has ended. */
const Imported = Schema.Struct({
  ...differs,
  imported: Schema.String,
  job: Schema.String,
  error: Schema.optional(Schema.String),
  error_code: Schema.optional(Schema.String),
  tags: Schema.optionalWith(texts, { default: () => ({ owner: "", scope: "organization" }) }),
  readme: Schema.optionalWith(Schema.String, { default: () => "" }),
  has_external_agent: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  keep
})

/** How a build has ended. */
const Built = Schema.Struct({
  ...differs,
  built: Schema.String,
  number: Schema.Number,
  transition: Schema.String,
  status: Schema.String,
  job: Schema.String,
  error: Schema.optional(Schema.String),
  daily_cost: Schema.optionalWith(Schema.Number, { default: () => 0 }),
  has_ai_task: Schema.optional(Schema.Boolean),
  has_external_agent: Schema.optional(Schema.Boolean),
  /** Whether the build has a preset. */
  preset: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  resources: rows,
  keep
})

const Resources = Schema.Struct({ ...person, ...differs, resources: Schema.String, are: rows, keep })
const Parameters = Schema.Struct({ ...person, ...differs, parameters: Schema.String, are: rows, keep })

const Row = Schema.Record({ key: Schema.String, value: Schema.Unknown })
type Row = typeof Row.Type

const strict = { onExcessProperty: "error" } as const
const readForm = Schema.decodeUnknownSync(Form, strict)
const readShown = Schema.decodeUnknownSync(Shown, strict)
const readImported = Schema.decodeUnknownSync(Imported, strict)
const readBuilt = Schema.decodeUnknownSync(Built, strict)
const readResources = Schema.decodeUnknownSync(Resources, strict)
const readParameters = Schema.decodeUnknownSync(Parameters, strict)

/** Fields that tell nothing of a template: ids, times, what follows from others, and the reason of a difference. */
const ignored = [
  "differs",
  "id",
  "ID",
  "created_at",
  "updated_at",
  "job_id",
  "resource_id",
  "parent_id",
  "workspace_agent_id",
  "log_source_id",
  "health",
  "logs_length",
  "description_plaintext",
  "subdomain_name",
  "troubleshooting_url"
]
const unordered = ["resources", "agents", "apps", "scripts", "log_sources", "Parameters"]

const usual = {
  field: {
    display_name: "",
    description: "",
    type: "string",
    form_type: "input",
    styling: {},
    mutable: false,
    icon: "",
    options: [],
    validations: [],
    required: false,
    order: 0,
    ephemeral: false,
    diagnostics: []
  },
  parameter: {
    description: "",
    type: "string",
    form_type: "input",
    mutable: false,
    default_value: "",
    icon: "",
    options: [],
    required: false,
    ephemeral: false
  },
  resource: { hide: false, icon: "", daily_cost: 0 },
  agent: {
    status: "connecting",
    lifecycle_state: "created",
    architecture: "amd64",
    environment_variables: null,
    operating_system: "linux",
    logs_overflowed: false,
    version: "",
    api_version: "",
    apps: [],
    connection_timeout_seconds: 120,
    subsystems: [],
    display_apps: ["vscode", "ssh_helper", "port_forwarding_helper", "web_terminal"],
    log_sources: [],
    scripts: [],
    startup_script_behavior: "non-blocking"
  },
  app: {
    external: false,
    display_name: "",
    icon: "",
    subdomain: false,
    sharing_level: "owner",
    healthcheck: { url: "", interval: 0, threshold: 0 },
    hidden: false,
    open_in: "slim-window",
    statuses: []
  },
  script: { log_path: "", cron: "", run_on_start: false, run_on_stop: false, start_blocks_login: false, timeout: 0 },
  log_source: { icon: "" },
  validation: {
    validation_error: null,
    validation_regex: null,
    validation_min: null,
    validation_max: null,
    validation_monotonic: null
  }
} as const

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const isRow = Schema.is(Row)

/** Items of a list with their usual values, and lists in them likewise. */
const expanded = (kind: keyof typeof usual, items: unknown, within: (item: Row) => Row = () => ({})): ReadonlyArray<unknown> =>
  list(items).map((item) => (isRow(item) ? { ...usual[kind], ...item, ...within(item) } : item))

/** The rows of resources, with what is in them. */
const resourcesOf = (items: unknown) =>
  expanded("resource", items, ({ agents }) =>
    agents === undefined
      ? {}
      : {
          agents: expanded("agent", agents, ({ apps, log_sources, scripts }) => ({
            apps: expanded("app", apps),
            scripts: expanded("script", scripts),
            log_sources: expanded("log_source", log_sources)
          }))
        }
  )

/** A value of a form: a text stands for a valid one. */
const valueOf = (value: unknown): unknown => (typeof value === "string" ? { value, valid: true } : value)

/** An option: a text stands for its name and value, a pair for both. */
const optionOf = (option: unknown, value: (text: unknown) => unknown): unknown => {
  if (isRow(option)) return option
  const [name, given = name] = typeof option === "string" ? [option] : list(option)
  return { name, value: value(given), description: "", icon: "" }
}

const fieldOf = ({ default_value, options, validations, value, ...rest }: Row): Row => ({
  ...usual.field,
  ...rest,
  value: valueOf(value),
  default_value: valueOf(default_value ?? value),
  options: options === null ? null : list(options).map((option) => optionOf(option, valueOf)),
  validations: expanded("validation", validations)
})

const parametersOf = (items: unknown) =>
  expanded("parameter", items, ({ options }) => ({ options: list(options).map((option) => optionOf(option, (text) => text)) }))

const successOf = (call: string) => ({ call: `GET ${call}`, status: 200 })

const imported = (line: unknown) => {
  const { error = "ABSENT", error_code = "ABSENT", has_external_agent, imported, job, keep, readme, tags } = readImported(line)
  return {
    ...successOf(imported),
    keep,
    only: { "job.status": job, "job.error": error, "job.error_code": error_code, "job.tags": tags, readme, has_external_agent }
  }
}

const built = (line: unknown) => {
  const { built, daily_cost, error = "ABSENT", job, keep, number, preset, resources, status, transition, ...flags } = readBuilt(line)
  return {
    ...successOf(built),
    keep,
    only: {
      build_number: number,
      transition,
      status,
      daily_cost,
      "job.status": job,
      "job.error": error,
      template_version_preset_id: preset ? "UUID" : null,
      ...(flags.has_ai_task === undefined ? {} : { has_ai_task: flags.has_ai_task }),
      ...(flags.has_external_agent === undefined ? {} : { has_external_agent: flags.has_external_agent }),
      resources: resourcesOf(resources)
    }
  }
}

const resources = (line: unknown) => {
  const { are, as, keep, resources } = readResources(line)
  return { ...successOf(resources), ...(as === undefined ? {} : { as }), keep, answer: resourcesOf(are), unordered: [""] }
}

const parameters = (line: unknown) => {
  const { are, as, keep, parameters } = readParameters(line)
  return { ...successOf(parameters), ...(as === undefined ? {} : { as }), keep, answer: parametersOf(are) }
}

/** The steps of a conversation that those of a file stand for. */
export const conversationOf = ([head, ...lines]: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const fields = new Map<string, Row>()
  const forms = new Map<string, Row>()

  const form = (line: unknown) => {
    const { as, diagnostics, form, inputs, owner, parameters, version } = readForm(line)
    const answer = {
      diagnostics,
      parameters:
        parameters?.map((given) => {
          if (typeof given === "string") return fields.get(given)
          const field = fieldOf(given)
          fields.set(String(given["name"]), field)
          return field
        }) ?? null
    }
    forms.set(form, answer)
    return {
      ...(as === undefined ? {} : { as }),
      call: `POST /templateversions/${version}/dynamic-parameters/evaluate`,
      body: { id: 1, inputs, owner_id: owner },
      status: 200,
      answer
    }
  }

  const shown = (line: unknown) => {
    const { form, id, shown } = readShown(line)
    return { receive: shown, messages: [{ id, ...forms.get(form) }], ignore: ["differs"] }
  }

  const stepOf = (line: unknown): unknown => {
    if (!isRow(line)) return line
    if ("form" in line && "version" in line) return form(line)
    if ("shown" in line) return shown(line)
    if ("imported" in line) return imported(line)
    if ("built" in line) return built(line)
    if ("are" in line) return "resources" in line ? resources(line) : parameters(line)
    const { differs: _, note: __, ...step } = line
    return step
  }
  return [{ ...(isRow(head) ? head : {}), ignore: ignored, unordered }, ...lines.map(stepOf)]
}
