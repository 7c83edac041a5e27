/** The declarations of a template's source. templates-and-provisioning.md §4.1, §4.2, §5.1. */
import { Schema } from "effect"

export interface TemplateVariable {
  readonly name: string
  readonly description: string
  readonly type: "string" | "number" | "bool" | (string & {})
  /** Empty when `required`. */
  readonly default_value: string
  readonly required: boolean
  readonly sensitive: boolean
}

export interface VariableValue {
  readonly name: string
  readonly value: string
  readonly sensitive: boolean
}

/** A value that a user gives a variable. */
export const UserVariableValue = Schema.Struct({ name: Schema.String, value: Schema.String })
export interface UserVariableValue extends Schema.Schema.Type<typeof UserVariableValue> {}

export const ParameterValue = Schema.Struct({ name: Schema.String, value: Schema.String })
export interface ParameterValue extends Schema.Schema.Type<typeof ParameterValue> {}

export type ParameterType = "string" | "number" | "bool" | "list(string)"

export type FormType =
  | "radio"
  | "dropdown"
  | "input"
  | "textarea"
  | "slider"
  | "checkbox"
  | "switch"
  | "tag-select"
  | "multi-select"
  | "error"

export interface ParameterOption {
  readonly name: string
  readonly description: string
  readonly value: string
  readonly icon: string
}

/** A parameter the template declares. templates-and-provisioning.md §4.2. */
export interface RichParameter {
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly type: ParameterType
  readonly form_type: FormType
  readonly mutable: boolean
  readonly ephemeral: boolean
  /** True when there is no default. */
  readonly required: boolean
  readonly default_value: string
  readonly icon: string
  readonly options: ReadonlyArray<ParameterOption>
  readonly validation_regex: string
  readonly validation_error: string
  readonly validation_min: number | null
  readonly validation_max: number | null
  readonly validation_monotonic: "" | "increasing" | "decreasing"
  readonly order: number
}

/** When and how long workspaces of a preset are kept ready. templates-and-provisioning.md §5.1. */
export const PrebuildPolicy = Schema.Struct({
  /** Seconds after which an unclaimed workspace is replaced; 0 keeps it. */
  ttl_seconds: Schema.Number,
  /** An IANA name, in which the schedule is read; empty without a schedule. */
  timezone: Schema.String,
  /** Five fields, and the first is `*`. The schedule holds in all minutes that it matches. */
  schedule: Schema.Array(Schema.Struct({ cron: Schema.String, instances: Schema.Number }))
})
export interface PrebuildPolicy extends Schema.Schema.Type<typeof PrebuildPolicy> {}

/** Workspaces are kept ready at any time and for any time. */
export const noPrebuildPolicy: PrebuildPolicy = { ttl_seconds: 0, timezone: "", schedule: [] }

export interface Preset {
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly default: boolean
  readonly parameters: ReadonlyArray<ParameterValue>
  /** Workspaces to keep ready; null when the template says nothing about it. */
  readonly desired_prebuild_instances: number | null
  /** Absent if the template says nothing about it. */
  readonly prebuild_policy?: PrebuildPolicy | undefined
}

/** The source's definitions, before any value is known. */
export interface ParsedTemplate {
  readonly variables: ReadonlyArray<TemplateVariable>
  /** Content of `README.md` at the root; empty if the file is missing. */
  readonly readme: string
  /** Tags the jobs of this template carry, as raw expressions. */
  readonly workspace_tags: Readonly<Record<string, string>>
  /** Those of them that have their value without an evaluation; all unless given. */
  readonly literal_tags?: Readonly<Record<string, string>>
}

/** An external provider that users sign in to before they create a workspace. templates-and-provisioning.md §3.4. */
export const ExternalAuthRequirement = Schema.Struct({
  /** The id of a configured provider. */
  id: Schema.String,
  /** Whether a workspace may be created without it. */
  optional: Schema.Boolean
})
export interface ExternalAuthRequirement extends Schema.Schema.Type<typeof ExternalAuthRequirement> {}
