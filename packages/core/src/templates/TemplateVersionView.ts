/** Versions, and what their imports found, as readers see them. templates-and-provisioning.md §3.3, §3.4, §5.1. */
import { Schema } from "effect"
import { Timestamp } from "../platform/Timestamp.js"
import { nil, Uuid } from "../platform/Uuid.js"
import { JobView, jobView, MatchedProvisionersView, matchedProvisionersView } from "../provisioning/JobView.js"
import type { MatchedProvisioners, QueuedJob } from "../provisioning/ProvisionerJob.js"
import { plainText } from "./Markdown.js"
import type { AuthoredVersion } from "./TemplateVersion.js"
import type { TemplateVersionParameter, TemplateVersionPreset } from "./TemplateVersionDefinitions.js"

export const TemplateVersionView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  organization_id: Uuid,
  /** The nil UUID without a template. */
  template_id: Uuid,
  name: Schema.String,
  message: Schema.String,
  readme: Schema.String,
  archived: Schema.Boolean,
  has_external_agent: Schema.Boolean,
  created_by: Schema.Struct({
    id: Uuid,
    username: Schema.String,
    name: Schema.optional(Schema.String),
    avatar_url: Schema.optional(Schema.String)
  }),
  /** The import. */
  job: JobView,
  /** While the import waits for a daemon. */
  matched_provisioners: Schema.optional(MatchedProvisionersView),
  /** Absent: no version of ours has the parameters of old that it warns of. */
  warnings: Schema.optional(Schema.Array(Schema.Literal("UNSUPPORTED_WORKSPACES")))
})
export interface TemplateVersionView extends Schema.Schema.Type<typeof TemplateVersionView> {}

export const templateVersionView = (
  version: AuthoredVersion,
  job: QueuedJob,
  matched: MatchedProvisioners | undefined
): TemplateVersionView => ({
  id: version.id,
  created_at: version.created_at,
  updated_at: version.updated_at,
  organization_id: version.organization_id,
  template_id: version.template_id ?? nil,
  name: version.name,
  message: version.message,
  readme: version.readme,
  archived: version.archived,
  has_external_agent: version.has_external_agent ?? false,
  created_by: {
    id: version.created_by,
    username: version.created_by_username,
    ...(version.created_by_name === "" ? {} : { name: version.created_by_name }),
    ...(version.created_by_avatar_url === "" ? {} : { avatar_url: version.created_by_avatar_url })
  },
  job: jobView(job),
  ...(matched === undefined ? {} : { matched_provisioners: matchedProvisionersView(matched) })
})

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
  validation_min: Schema.optional(Schema.Number),
  validation_max: Schema.optional(Schema.Number),
  validation_monotonic: omitted,
  required: Schema.Boolean,
  ephemeral: Schema.Boolean
})
export interface ParameterView extends Schema.Schema.Type<typeof ParameterView> {}

export const parameterView = (parameter: TemplateVersionParameter): ParameterView => ({
  name: parameter.name,
  ...(parameter.display_name === "" ? {} : { display_name: parameter.display_name }),
  description: parameter.description,
  description_plaintext: plainText(parameter.description),
  type: parameter.type,
  form_type: parameter.form_type,
  mutable: parameter.mutable,
  default_value: parameter.default_value,
  icon: parameter.icon,
  options: parameter.options,
  ...(parameter.validation_error === "" ? {} : { validation_error: parameter.validation_error }),
  ...(parameter.validation_regex === "" ? {} : { validation_regex: parameter.validation_regex }),
  ...(parameter.validation_min === null ? {} : { validation_min: parameter.validation_min }),
  ...(parameter.validation_max === null ? {} : { validation_max: parameter.validation_max }),
  ...(parameter.validation_monotonic === "" ? {} : { validation_monotonic: parameter.validation_monotonic }),
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

const PresetParameterView = Schema.Struct({ Name: Schema.String, Value: Schema.String, name: Schema.String, value: Schema.String })

/** Each field under the name that is documented and under the one that the reference's clients read. wire.md W2. */
export const PresetView = Schema.Struct({
  ID: Uuid,
  Name: Schema.String,
  Parameters: Schema.Array(PresetParameterView),
  Default: Schema.Boolean,
  DesiredPrebuildInstances: Schema.NullOr(Schema.Number),
  Description: Schema.String,
  Icon: Schema.String,
  id: Uuid,
  name: Schema.String,
  parameters: Schema.Array(PresetParameterView),
  default: Schema.Boolean,
  desiredPrebuildInstances: Schema.NullOr(Schema.Number),
  description: Schema.String,
  icon: Schema.String
})
export interface PresetView extends Schema.Schema.Type<typeof PresetView> {}

export const presetView = (preset: TemplateVersionPreset): PresetView => {
  const { default: isDefault, description, desired_prebuild_instances, icon, id, name } = preset
  const parameters = preset.parameters.map(({ name, value }) => ({ Name: name, Value: value, name, value }))
  return {
    ID: id,
    Name: name,
    Parameters: parameters,
    Default: isDefault,
    DesiredPrebuildInstances: desired_prebuild_instances,
    Description: description,
    Icon: icon,
    id,
    name,
    parameters,
    default: isDefault,
    desiredPrebuildInstances: desired_prebuild_instances,
    description,
    icon
  }
}
