/**
 * The vocabulary of `template.yaml`: the ecosystem's Terraform resources (`coder_agent`, `coder_app`, `coder_script`, `coder_env`,
 * `coder_metadata`, `coder_parameter`, `coder_workspace_preset`, `coder_workspace_tags`, `coder_ai_task`,
 * `coder_external_auth`), written as YAML.
 * templates-and-provisioning.md §4.2, §5.1, §10.2; agents-and-apps.md §3, §6–8.
 */
import { compilePattern } from "@atelier/core/platform"
import { scheduleViolation } from "@atelier/core/provisioning"
import { Cron, Either, ParseResult, Schema } from "effect"
import { Condition, TemplateText } from "./Expression.js"
import { parseCondition, parseText } from "./ExpressionParser.js"
import { localPath } from "../engine/LocalPath.js"

const show = (actual: unknown): string => {
  if (actual === null || actual === undefined) return "empty"
  if (Array.isArray(actual)) return "a list"
  if (typeof actual === "object") return "a mapping"
  const text = typeof actual === "string" ? JSON.stringify(actual) : String(actual)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const must = (what: string) => ({ message: (issue: ParseResult.ParseIssue) => `must be ${what}, not ${show(issue.actual)}` })

/** YAML knows no undefined, so a key that may be absent is exactly that. */
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const orElse = <A, I>(schema: Schema.Schema<A, I>, initial: NoInfer<A>) =>
  Schema.optionalWith(schema, { exact: true, default: () => initial })

/** A list of at most `max` items, which are counted before any is read. */
const list = <A, I>(item: Schema.Schema<A, I>, max: number) =>
  orElse(
    Schema.Array(Schema.Unknown).pipe(
      Schema.maxItems(max, { message: () => `has more than ${max} items` }),
      Schema.compose(Schema.Array(item), { strict: false })
    ),
    []
  )

const oneOf = <const Values extends readonly [string, ...Array<string>]>(...values: Values) =>
  Schema.Literal(...values).annotations(must(`one of ${values.join(", ")}`))

const flag = (initial: boolean) => orElse(Schema.Boolean.annotations(must("true or false")), initial)

const maximumInteger = 2 ** 31 - 1

const integer = (min: number, max = maximumInteger) =>
  Schema.Int.annotations(must("a whole number")).pipe(Schema.between(min, max, must(`a whole number from ${min} to ${max}`)))

const named = (pattern: RegExp, max: number, what: string) =>
  Schema.String.annotations(must("text")).pipe(
    Schema.filter((name) =>
      name.length <= max && pattern.test(name) ? undefined : `must be ${what} of at most ${max} characters, not ${show(name)}`
    )
  )

const plain = (max: number) =>
  Schema.String.annotations(must("text")).pipe(
    Schema.filter((text) => (text.length > 0 && text.length <= max ? undefined : `must be text of 1 to ${max} characters`))
  )

const Identifier = named(/^[a-zA-Z_][a-zA-Z0-9_-]*$/, 64, "a name of letters, digits, _ and -, not starting with a digit or -,")

/** Text with expressions in it. */
const Text = Schema.transformOrFail(Schema.String.annotations(must("text")), Schema.instanceOf(TemplateText), {
  strict: true,
  decode: (source, _, ast) => Either.mapLeft(parseText(source), ({ message }) => new ParseResult.Type(ast, source, message)),
  encode: ({ source }) => Either.right(source)
})

const Scalar = Schema.Union(Text, Schema.JsonNumber, Schema.Boolean)

/** The reason a text was refused is of more use than the list of what else the value could have been. */
const orSyntax = (what: string, ofLists: string) => ({
  message: ({ actual }: ParseResult.ParseIssue) => {
    const texts: ReadonlyArray<unknown> = Array.isArray(actual) ? actual : [actual]
    const broken = texts.flatMap((text) => (typeof text === "string" ? [parseText(text)] : [])).find(Either.isLeft)
    if (broken !== undefined) return broken.left.message
    return Array.isArray(actual) ? ofLists : `must be ${what}, not ${show(actual)}`
  }
})

/** A value that travels as text: `8080` and `true` need no quotes. */
const TextOrScalar = Scalar.annotations(orSyntax("text, a number, true or false", "must not be a list"))
export type TextOrScalar = typeof TextOrScalar.Type

/** A value of any type a parameter or variable can have. */
const Value = Schema.Union(...Scalar.members, Schema.Array(Text)).annotations(
  orSyntax("text, a number, true, false or a list of texts", "must be a list of texts alone")
)
export type Value = typeof Value.Type

/** Whether the entry exists at all. */
const when = optional(
  Schema.transformOrFail(Schema.Union(Schema.String, Schema.Boolean).annotations(must("a condition")), Schema.instanceOf(Condition), {
    strict: true,
    decode: (source, _, ast) => Either.mapLeft(parseCondition(String(source)), ({ message }) => new ParseResult.Type(ast, source, message)),
    encode: ({ source }) => Either.right(source)
  })
)

const text = optional(Text)
const order = orElse(integer(-maximumInteger - 1), 0)

const ValueType = oneOf("string", "number", "bool", "list(string)")

const Variable = Schema.Struct({
  name: Identifier,
  description: optional(plain(4096)),
  type: orElse(ValueType, "string"),
  /** Absent makes the variable required. */
  default: optional(Value),
  sensitive: flag(false)
})

const ParameterOption = Schema.Struct({ name: Text, value: Value, description: text, icon: text, when })

/** How a client shows the control of a parameter. */
const Styling = Schema.Struct({
  placeholder: text,
  label: text,
  disabled: optional(Schema.Boolean.annotations(must("true or false"))),
  mask_input: optional(Schema.Boolean.annotations(must("true or false")))
})

const Pattern = plain(4096).pipe(
  Schema.filter((source) => {
    const pattern = compilePattern(source)
    return typeof pattern === "string" ? `cannot be used: ${pattern}` : undefined
  })
)

const Validation = Schema.Struct({
  regex: optional(Pattern),
  min: optional(integer(-maximumInteger - 1)),
  max: optional(integer(-maximumInteger - 1)),
  monotonic: optional(oneOf("increasing", "decreasing")),
  error: optional(plain(4096))
}).pipe(
  Schema.filter(({ error, max, min, monotonic, regex }) => {
    if (regex !== undefined && (min ?? max ?? monotonic) !== undefined)
      return { path: ["regex"], message: "excludes min, max and monotonic" }
    if (regex !== undefined && error === undefined) return { path: ["regex"], message: 'needs an "error" that says what is expected' }
    if (min !== undefined && max !== undefined && min > max) return { path: ["min"], message: `must not be above max, ${max}` }
    return undefined
  })
)

const Parameter = Schema.Struct({
  name: Identifier,
  display_name: text,
  description: text,
  type: orElse(ValueType, "string"),
  /** Absent takes the first of the type's. */
  form_type: optional(oneOf("radio", "dropdown", "input", "textarea", "slider", "checkbox", "switch", "tag-select", "multi-select")),
  mutable: flag(false),
  ephemeral: flag(false),
  /** Absent makes the parameter required. */
  default: optional(Value),
  icon: text,
  options: list(ParameterOption, 256),
  validation: optional(Validation),
  styling: optional(Styling),
  order,
  when
}).pipe(
  Schema.filter(({ default: value, ephemeral, mutable }) => {
    if (ephemeral && !mutable) return { path: ["ephemeral"], message: "needs mutable: true" }
    if (ephemeral && value === undefined) return { path: ["ephemeral"], message: "needs a default" }
    return undefined
  })
)
export type Parameter = typeof Parameter.Type

const Prebuilds = Schema.Struct({
  instances: integer(0, 1000),
  expiration_policy: optional(
    Schema.Struct({
      ttl: Schema.Number.pipe(
        Schema.filter((ttl) =>
          ttl === 0 || (Number.isInteger(ttl) && ttl >= 3_600 && ttl <= 31_536_000)
            ? undefined
            : "must be 0, or seconds from an hour to a year"
        )
      )
    })
  ),
  scheduling: optional(
    Schema.Struct({
      timezone: plain(64),
      schedule: list(Schema.Struct({ cron: plain(256), instances: integer(0, 1000) }), 100)
    })
  )
}).pipe(
  Schema.filter(({ scheduling }) => {
    const violation = scheduling === undefined ? undefined : scheduleViolation({ ttl_seconds: 0, ...scheduling })
    return violation === undefined ? undefined : { path: ["scheduling"], message: violation }
  })
)

const Preset = Schema.Struct({
  name: plain(256),
  description: optional(plain(128)),
  icon: optional(plain(256)),
  default: flag(false),
  parameters: orElse(Schema.Record({ key: Schema.String, value: Value }), {}),
  prebuilds: optional(Prebuilds)
})

const Metadata = Schema.Struct({
  /** The resource's name; the template's when absent. */
  name: optional(named(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 64, "a name of letters, digits, _, . and -")),
  icon: text,
  hide: flag(false),
  daily_cost: orElse(integer(0), 0),
  items: list(Schema.Struct({ key: plain(127), value: TextOrScalar, sensitive: flag(false), when }), 100)
})

/** Six fields, seconds first. agents-and-apps.md §7. */
const SixFieldCron = Schema.String.annotations(must("text")).pipe(
  Schema.filter((cron) =>
    cron.trim().split(/\s+/).length === 6 && Either.isRight(Cron.parse(cron))
      ? undefined
      : `must be a schedule of six fields (second, minute, hour, day, month, weekday), not ${show(cron)}`
  )
)

const Script = Schema.Struct({
  display_name: plain(127),
  icon: text,
  script: Text,
  cron: optional(SixFieldCron),
  log_path: text,
  run_on_start: flag(false),
  run_on_stop: flag(false),
  /** Once the workspace has its owner: at a start, and when a prebuilt workspace is claimed. */
  run_for_owner: flag(false),
  start_blocks_login: flag(false),
  /** Seconds; 0 has no limit. */
  timeout: orElse(integer(0), 0),
  when
}).pipe(
  Schema.filter(({ cron, run_for_owner, run_on_start, run_on_stop, start_blocks_login }) => {
    if (cron === undefined && !run_on_start && !run_on_stop && !run_for_owner) {
      return { path: ["script"], message: "never runs: give run_on_start, run_for_owner, run_on_stop or cron" }
    }
    if (run_on_start && run_for_owner) return { path: ["run_for_owner"], message: "excludes run_on_start" }
    if (start_blocks_login && !run_on_start) return { path: ["start_blocks_login"], message: "needs run_on_start: true" }
    return undefined
  })
)
export type Script = typeof Script.Type

const App = Schema.Struct({
  slug: named(/^[a-z0-9](-?[a-z0-9])*$/, 64, "lower-case letters and digits with single dashes between,"),
  display_name: text,
  command: text,
  url: text,
  icon: text,
  subdomain: flag(false),
  external: flag(false),
  share: optional(oneOf("owner", "authenticated", "organization", "public")),
  healthcheck: optional(Schema.Struct({ url: Text, interval: integer(1, 86_400), threshold: integer(1, 100_000) })),
  order,
  group: text,
  hidden: flag(false),
  open_in: orElse(oneOf("slim-window", "tab"), "slim-window"),
  tooltip: text,
  when
}).pipe(
  Schema.filter(({ command, external, healthcheck, share, slug, subdomain, url }) => {
    if (url === undefined && command === undefined) return { path: ["slug"], message: `"${slug}" needs a url or a command` }
    if (url !== undefined && command !== undefined) return { path: ["command"], message: "excludes url" }
    if (!external) return undefined
    if (command !== undefined) return { path: ["command"], message: "excludes external" }
    if (healthcheck !== undefined) return { path: ["healthcheck"], message: "excludes external" }
    if (subdomain) return { path: ["subdomain"], message: "excludes external" }
    if (share !== undefined) return { path: ["share"], message: "excludes external" }
    return undefined
  })
)
export type App = typeof App.Type

const AgentMetadata = Schema.Struct({
  key: plain(127),
  display_name: text,
  script: Text,
  /** Seconds. */
  interval: integer(1, 86_400),
  /** Seconds; as long as the interval when absent. */
  timeout: optional(integer(1, 86_400)),
  order,
  when
})

const isEnvironmentName = (name: string): boolean => name.length <= 128 && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)
const environmentNameRule = (name: string): string =>
  `must be a name of letters, digits and _, not starting with a digit, not ${show(name)}`

const Environment = Schema.Record({ key: Schema.String, value: TextOrScalar })

  .pipe(
    Schema.filter((environment) =>
      Object.keys(environment)
        .filter((name) => !isEnvironmentName(name))
        .map((name) => ({ path: [name], message: environmentNameRule(name) }))
    )
  )

const Agent = Schema.Struct({
  name: named(/^[a-z0-9](-?[a-z0-9])*$/i, 64, "letters and digits with single dashes between,"),
  /** The system the agent is for; any when absent. */
  os: optional(oneOf("linux", "darwin", "windows")),
  arch: optional(oneOf("amd64", "arm64", "armv7")),
  /** Beneath the workspace's directory. */
  dir: text,
  /** Overrides the template's `env`. */
  env: orElse(Environment, {}),
  /** Seconds; 0 waits for ever. */
  connection_timeout: orElse(integer(0), 120),
  troubleshooting_url: text,
  motd_file: text,
  api_key_scope: orElse(oneOf("all", "no_user_data"), "all"),
  display_apps: orElse(
    Schema.Struct({
      vscode: flag(true),
      vscode_insiders: flag(false),
      web_terminal: flag(true),
      ssh_helper: flag(true),
      port_forwarding_helper: flag(true)
    }),
    { vscode: true, vscode_insiders: false, web_terminal: true, ssh_helper: true, port_forwarding_helper: true }
  ),
  order,
  startup_script: text,
  startup_script_behavior: orElse(oneOf("non-blocking", "blocking"), "non-blocking"),
  shutdown_script: text,
  scripts: list(Script, 100),
  metadata: list(AgentMetadata, 100),
  apps: list(App, 100),
  when
})
export type Agent = typeof Agent.Type

const EnvironmentEntry = Schema.Struct({
  name: Schema.String.annotations(must("text")).pipe(Schema.filter((name) => isEnvironmentName(name) || environmentNameRule(name))),
  value: TextOrScalar,
  merge_strategy: orElse(oneOf("replace", "append", "prepend", "error"), "replace"),
  /** The agent that gets it; every agent when absent. */
  agent: optional(Schema.String.annotations(must("an agent's name"))),
  when
})

/** The app that works on a task of the workspace. */
const AiTask = Schema.Struct({ app: Schema.String.annotations(must("the slug of an app")), when })

/** A provider that users sign in to before they create a workspace. */
const ExternalAuth = Schema.Struct({
  id: named(/^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/, 32, "the id of a provider, of letters, digits and inner hyphens,"),
  /** Whether a workspace can be created without it. */
  optional: flag(false)
})

/** A path inside the source; `.` is all of it. */
const SourcePath = Schema.String.annotations(must("a path")).pipe(
  Schema.filter((path) => Either.match(localPath(path), { onLeft: (cause) => `${show(path)} ${cause}`, onRight: () => undefined }))
)

const File = Schema.Struct({
  /** Beneath the workspace's directory. */
  path: Text,
  content: text,
  /** A file or folder of the source. */
  source: optional(SourcePath),
  mode: optional(
    Schema.String.annotations(must('octal permissions in quotes, such as "0644"')).pipe(
      Schema.pattern(/^0?[0-7]{3}$/, must('octal permissions in quotes, such as "0644"'))
    )
  ),
  /** False keeps a file that exists, so that what the user changed stays. */
  overwrite: flag(false),
  when
}).pipe(
  Schema.filter(({ content, source }) =>
    (content === undefined) === (source === undefined) ? { path: ["path"], message: "needs either content or source" } : undefined
  )
)
export type File = typeof File.Type

export const TemplateFile = Schema.Struct({
  engine: orElse(named(/^[a-z][a-z0-9-]*$/, 32, "a name of lower-case letters, digits and hyphens"), "local"),
  metadata: optional(Metadata),
  variables: list(Variable, 256),
  parameters: list(Parameter, 256),
  presets: list(Preset, 256),
  tags: orElse(Schema.Record({ key: Schema.String, value: Text }), {}),
  env: list(EnvironmentEntry, 512),
  files: list(File, 512),
  agents: list(Agent, 32),
  ai_task: optional(AiTask),
  external_auth: list(ExternalAuth, 32)
})
export type TemplateFile = typeof TemplateFile.Type
