/**
 * The vocabulary of `template.yaml`: the ecosystem's Terraform resources (`coder_agent`, `coder_app`, `coder_script`, `coder_env`,
 * `coder_metadata`, `coder_parameter`, `coder_workspace_preset`, `coder_workspace_tags`, `coder_ai_task`,
 * `coder_external_auth`), written as YAML.
 * templates-and-provisioning.md §4.2, §5.1, §10.2; agents-and-apps.md §3, §6–8.
 */
import { Schema } from "effect"
import { Agent } from "./definition/Agent.js"
import {
  environmentNameRule,
  flag,
  integer,
  isEnvironmentName,
  list,
  must,
  named,
  optional,
  orElse,
  oneOf,
  plain,
  SourcePath,
  Text,
  text,
  TextOrScalar,
  when
} from "./definition/Field.js"
import { Parameter, Preset, Variable } from "./definition/Parameter.js"

const Metadata = Schema.Struct({
  /** The resource's name; the template's when absent. */
  name: optional(named(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 64, "a name of letters, digits, _, . and -")),
  icon: text,
  hide: flag(false),
  daily_cost: orElse(integer(0), 0),
  items: list(Schema.Struct({ key: plain(127), value: TextOrScalar, sensitive: flag(false), when }), 100)
})

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
  /** Absent where the rest of the template tells. */
  engine: optional(named(/^[a-z][a-z0-9-]*$/, 32, "a name of lower-case letters, digits and hyphens")),
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
