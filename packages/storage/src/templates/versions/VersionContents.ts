import {
  ExternalAuthRequirement,
  type FormType,
  type ParameterType,
  ParameterValue,
  PrebuildPolicy,
  type RichParameter,
  type TemplateVariable
} from "@atelier/core/provisioning"
import type { Uuid } from "@atelier/core/platform"
import type {
  TemplateVersionParameter,
  TemplateVersionPreset,
  TemplateVersionRepository,
  TemplateVersionVariable
} from "@atelier/core/templates"
import { Effect, Option, Schema } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { type Dialect, dialectOf } from "../../platform/Dialect.js"
import { boolean, columnList, json, nullable, number, row, text, uuid } from "../../platform/Row.js"
import { all, first, run } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"

const variable = row({
  name: text(),
  description: text(),
  type: text<TemplateVariable["type"]>(),
  value: text(),
  default_value: text(),
  required: boolean,
  sensitive: boolean
})

const Options = Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, value: Schema.String, icon: Schema.String }))

const parameterColumns = {
  name: text(),
  display_name: text(),
  description: text(),
  type: text<ParameterType>(),
  form_type: text<FormType>(),
  mutable: boolean,
  ephemeral: boolean,
  required: boolean,
  default_value: text(),
  icon: text(),
  options: json(Options),
  validation_regex: text(),
  validation_error: text(),
  validation_min: nullable(number),
  validation_max: nullable(number),
  validation_monotonic: text<RichParameter["validation_monotonic"]>()
}
const parameter = row({ ...parameterColumns, order: number })

const preset = row({
  id: uuid,
  template_version_id: uuid,
  name: text(),
  description: text(),
  icon: text(),
  default: boolean,
  desired_prebuild_instances: nullable(number),
  prebuild_policy: json(PrebuildPolicy),
  parameters: json(Schema.Array(ParameterValue))
})

const externalAuth = row({ external_auth_providers: json(Schema.Array(ExternalAuthRequirement)) })

const variableRow = (id: Uuid.Uuid, value: TemplateVersionVariable, bool: Dialect["boolean"]) => ({
  template_version_id: id,
  name: value.name,
  description: value.description,
  type: value.type,
  value: value.value,
  default_value: value.default_value,
  required: bool(value.required),
  sensitive: bool(value.sensitive)
})

const parameterRow = (id: Uuid.Uuid, value: TemplateVersionParameter, bool: Dialect["boolean"]) => ({
  template_version_id: id,
  name: value.name,
  display_name: value.display_name,
  description: value.description,
  type: value.type,
  form_type: value.form_type,
  mutable: bool(value.mutable),
  ephemeral: bool(value.ephemeral),
  required: bool(value.required),
  default_value: value.default_value,
  icon: value.icon,
  options: JSON.stringify(value.options),
  validation_regex: value.validation_regex,
  validation_error: value.validation_error,
  validation_min: value.validation_min,
  validation_max: value.validation_max,
  validation_monotonic: value.validation_monotonic,
  display_order: value.order
})

const presetRow = (id: Uuid.Uuid, value: TemplateVersionPreset, bool: Dialect["boolean"]) => ({
  id: value.id,
  template_version_id: id,
  name: value.name,
  description: value.description,
  icon: value.icon,
  is_default: bool(value.default),
  desired_prebuild_instances: value.desired_prebuild_instances,
  prebuild_policy: JSON.stringify(value.prebuild_policy),
  parameters: JSON.stringify(value.parameters)
})

/** What imports find in a version: its variables, parameters, presets and needed logins. */
export const versionContents = (
  sql: Statements
): Pick<
  TemplateVersionRepository["Type"],
  | "storeParsed"
  | "storePlanned"
  | "storeExternalAuth"
  | "externalAuth"
  | "parameters"
  | "presets"
  | "presetById"
  | "variables"
  | "activeVariables"
> => {
  const { boolean: bool } = dialectOf(sql)

  const variableColumns = sql.literal("w.name, w.description, w.type, w.value, w.default_value, w.required, w.sensitive")
  const presetColumns = sql.literal(
    'id, template_version_id, name, description, icon, is_default AS "default", desired_prebuild_instances, prebuild_policy, parameters'
  )

  return {
    storeParsed: (id, { readme, updated_at, variables, workspace_tags }) =>
      Effect.gen(function* () {
        yield* run(
          sql`UPDATE template_versions SET readme = ${readme}, workspace_tags = ${JSON.stringify(workspace_tags)}, updated_at = ${updated_at}
              WHERE id = ${id}`
        )
        yield* run(sql`DELETE FROM template_version_variables WHERE template_version_id = ${id}`)
        yield* run(
          insertAll(
            sql,
            "template_version_variables",
            variables.map((value) => variableRow(id, value, bool))
          )
        )
      }),
    storePlanned: (id, { engine, has_ai_task, has_external_agent, parameters, presets, updated_at }) =>
      Effect.gen(function* () {
        yield* run(
          sql`UPDATE template_versions
              SET engine = ${engine}, has_ai_task = ${bool(has_ai_task)}, has_external_agent = ${bool(has_external_agent)}, updated_at = ${updated_at}
              WHERE id = ${id}`
        )
        yield* run(sql`DELETE FROM template_version_parameters WHERE template_version_id = ${id}`)
        yield* run(sql`DELETE FROM template_version_presets WHERE template_version_id = ${id}`)
        yield* run(
          insertAll(
            sql,
            "template_version_parameters",
            parameters.map((value) => parameterRow(id, value, bool))
          )
        )
        yield* run(
          insertAll(
            sql,
            "template_version_presets",
            presets.map((value) => presetRow(id, value, bool))
          )
        )
      }),
    storeExternalAuth: (id, needed) =>
      run(sql`UPDATE template_versions SET external_auth_providers = ${JSON.stringify(needed)} WHERE id = ${id}`),
    externalAuth: (id) =>
      Effect.map(
        first(externalAuth, sql`SELECT external_auth_providers FROM template_versions WHERE id = ${id}`),
        Option.match({ onNone: () => [], onSome: ({ external_auth_providers }) => external_auth_providers })
      ),
    parameters: (id) =>
      all(
        parameter,
        sql`SELECT ${sql.literal(columnList(parameterColumns))}, display_order AS ${sql("order")}
            FROM template_version_parameters WHERE template_version_id = ${id} ORDER BY display_order, lower(name), name`
      ),
    presets: (id) => all(preset, sql`SELECT ${presetColumns} FROM template_version_presets WHERE template_version_id = ${id} ORDER BY id`),
    presetById: (id) => first(preset, sql`SELECT ${presetColumns} FROM template_version_presets WHERE id = ${id}`),
    variables: (id) =>
      all(variable, sql`SELECT ${variableColumns} FROM template_version_variables w WHERE w.template_version_id = ${id} ORDER BY w.name`),
    activeVariables: (templateId) =>
      all(
        variable,
        sql`SELECT ${variableColumns} FROM template_version_variables w
            JOIN templates t ON t.active_version_id = w.template_version_id WHERE t.id = ${templateId} ORDER BY w.name`
      )
  }
}
