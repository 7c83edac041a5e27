/** The definitions of versions' sources, as readers see them. templates-and-provisioning.md §3.4, §5.1. */
import { Schema } from "effect"
import { present } from "../../platform/lists/Present.js"
import * as Numbers from "../../platform/Numbers.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { plainText } from "./Markdown.js"
import type { TemplateVersionParameter, TemplateVersionPreset } from "./TemplateVersionDefinitions.js"

/** A text that is left out when it is empty. */
const omitted = Schema.optional(Schema.String)

export const ParameterView = Schema.Struct({
  name: Schema.String,
  display_name: omitted,
  description: Schema.String,
  /** Without Markdown. */
  description_plaintext: Schema.String,
  type: Schema.String,
  form_type: Schema.String,
  mutable: Schema.Boolean,
  default_value: Schema.String,
  icon: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, value: Schema.String, icon: Schema.String })),
  validation_error: omitted,
  validation_regex: omitted,
  validation_min: Schema.optional(Numbers.Integer),
  validation_max: Schema.optional(Numbers.Integer),
  validation_monotonic: omitted,
  required: Schema.Boolean,
  ephemeral: Schema.Boolean
})
export interface ParameterView extends Schema.Schema.Type<typeof ParameterView> {}

export const parameterView = (parameter: TemplateVersionParameter): ParameterView => ({
  name: parameter.name,
  ...present("display_name", parameter.display_name),
  description: parameter.description,
  description_plaintext: plainText(parameter.description),
  type: parameter.type,
  form_type: parameter.form_type,
  mutable: parameter.mutable,
  default_value: parameter.default_value,
  icon: parameter.icon,
  options: parameter.options,
  ...present("validation_error", parameter.validation_error),
  ...present("validation_regex", parameter.validation_regex),
  ...present("validation_min", parameter.validation_min),
  ...present("validation_max", parameter.validation_max),
  ...present("validation_monotonic", parameter.validation_monotonic),
  required: parameter.required,
  ephemeral: parameter.ephemeral
})

export const VariableView = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  type: Schema.String,
  value: Schema.String,
  default_value: Schema.String,
  required: Schema.Boolean,
  sensitive: Schema.Boolean
})

const PresetParameterView = Schema.Struct({
  Name: Schema.String,
  Value: Schema.String
}).annotations({ identifier: "PresetParameter" })

/** A preset under the names that the reference's clients read. wire.md W2. */
export const PresetView = Schema.Struct({
  ID: Uuid,
  Name: Schema.String,
  Parameters: Schema.Array(PresetParameterView),
  Default: Schema.Boolean,
  DesiredPrebuildInstances: Numbers.Count,
  Description: Schema.String,
  Icon: Schema.String
})
export interface PresetView extends Schema.Schema.Type<typeof PresetView> {}

export const presetView = (preset: TemplateVersionPreset): PresetView => ({
  ID: preset.id,
  Name: preset.name,
  Parameters: preset.parameters.map(({ name, value }) => ({ Name: name, Value: value })),
  Default: preset.default,
  DesiredPrebuildInstances: preset.desired_prebuild_instances ?? 0,
  Description: preset.description,
  Icon: preset.icon
})
