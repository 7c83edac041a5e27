import { SqlClient } from "@effect/sql"
import {
  ExternalAuthRequirement,
  type FormType,
  type ParameterType,
  ParameterValue,
  PrebuildPolicy,
  ProvisionerTags,
  type RichParameter,
  type TemplateVariable
} from "@atelier/core/provisioning"
import { TemplateVersionRepository } from "@atelier/core/templates"
import { Effect, Option, Schema } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { dialectOf } from "../../platform/Dialect.js"
import { boolean, columnList, json, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, run, runUnique } from "../../platform/Statement.js"
import { limited, rowsWanted } from "../../platform/Limit.js"
import { jobIs } from "../../provisioning/JobStatus.js"
import { service } from "@atelier/core/platform"

const columns = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  organization_id: uuid,
  template_id: nullable(uuid),
  name: text(),
  message: text(),
  readme: text(),
  job_id: uuid,
  created_by: uuid,
  archived: boolean,
  source_example_id: nullable(text()),
  has_ai_task: nullable(boolean),
  has_external_agent: nullable(boolean),
  workspace_tags: json(ProvisionerTags)
}

const authored = row({ ...columns, created_by_username: text(), created_by_name: text(), created_by_avatar_url: text() })

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

export const layer = service(
  TemplateVersionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)

    const selected = sql`SELECT ${sql.literal(columnList(columns, "v"))},
      u.username AS created_by_username, u.name AS created_by_name, u.avatar_url AS created_by_avatar_url
      FROM template_versions v JOIN users u ON u.id = v.created_by`

    const variableColumns = sql.literal("w.name, w.description, w.type, w.value, w.default_value, w.required, w.sensitive")
    const presetColumns = sql.literal(
      'id, template_version_id, name, description, icon, is_default AS "default", desired_prebuild_instances, prebuild_policy, parameters'
    )

    return TemplateVersionRepository.of({
      byId: (id) => first(authored, sql`${selected} WHERE v.id = ${id}`),
      byIds: (ids) => all(authored, sql`${selected} WHERE v.id IN ${sql.in(ids)}`),
      byName: (templateId, name) => first(authored, sql`${selected} WHERE v.template_id = ${templateId} AND v.name = ${name}`),
      previous: ({ created_at, id, template_id }) =>
        first(
          authored,
          sql`${selected} WHERE v.template_id = ${template_id} AND (v.created_at, v.id) < (${created_at}, ${id})
            ORDER BY v.created_at DESC, v.id DESC LIMIT 1`
        ),
      list: (templateId, { after_id, limit, offset }, includeArchived) =>
        Effect.gen(function* () {
          const after = after_id === undefined ? undefined : yield* first(authored, sql`${selected} WHERE v.id = ${after_id}`)
          if (after !== undefined && Option.isNone(after)) return Option.none()
          const behind =
            after === undefined
              ? []
              : [sql`(v.created_at > ${after.value.created_at} OR (v.created_at = ${after.value.created_at} AND v.id > ${after.value.id}))`]
          return Option.some(
            yield* all(
              authored,
              sql`${selected}
                WHERE ${sql.and([sql`v.template_id = ${templateId}`, ...(includeArchived ? [] : [sql`NOT v.archived`]), ...behind])}
                ORDER BY v.created_at, v.id ${limited(sql, { limit: rowsWanted(limit), offset })}`
            )
          )
        }),
      insert: (version) =>
        runUnique(
          Effect.asVoid(
            sql`INSERT INTO template_versions ${sql.insert({
              ...version,
              archived: bool(version.archived),
              has_ai_task: version.has_ai_task === null ? null : bool(version.has_ai_task),
              has_external_agent: version.has_external_agent === null ? null : bool(version.has_external_agent),
              workspace_tags: JSON.stringify(version.workspace_tags)
            })}`
          )
        ),
      rename: (id, { message, name, updated_at }) =>
        runUnique(
          Effect.asVoid(sql`UPDATE template_versions SET name = ${name}, message = ${message}, updated_at = ${updated_at} WHERE id = ${id}`)
        ),
      attach: (id, templateId, at) =>
        Effect.map(
          runUnique(
            sql`UPDATE template_versions SET template_id = ${templateId}, updated_at = ${at}
              WHERE id = ${id} AND template_id IS NULL AND NOT archived RETURNING id`
          ),
          (rows) => rows.length > 0
        ),
      archive: (templateId, { failedOnly, id }, at) =>
        Effect.map(
          all(
            row({ id: uuid }),
            sql`UPDATE template_versions SET archived = ${bool(true)}, updated_at = ${at}
              WHERE ${sql.and([
                sql`template_id = ${templateId}`,
                sql`NOT archived`,
                ...(id === undefined ? [] : [sql`id = ${id}`]),
                sql`NOT EXISTS (SELECT 1 FROM templates t WHERE t.active_version_id = template_versions.id)`,
                sql`EXISTS (SELECT 1 FROM provisioner_jobs j WHERE j.id = template_versions.job_id AND j.completed_at IS NOT NULL
                  ${failedOnly ? sql`AND ${sql.literal(jobIs("failed", "j"))}` : sql``})`,
                sql`NOT EXISTS (SELECT 1 FROM workspace_builds b WHERE b.template_version_id = template_versions.id AND b.transition <> 'delete'
                  AND NOT EXISTS (SELECT 1 FROM workspace_builds n WHERE n.workspace_id = b.workspace_id AND n.build_number > b.build_number))`
              ])} RETURNING id`
          ),
          (archived) => archived.map((version) => version.id)
        ),
      unarchive: (id, at) =>
        Effect.map(
          all(
            row({ id: uuid }),
            sql`UPDATE template_versions SET archived = ${bool(false)}, updated_at = ${at} WHERE id = ${id} AND archived RETURNING id`
          ),
          (rows) => rows.length > 0
        ),
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
              variables.map((value) => ({
                template_version_id: id,
                name: value.name,
                description: value.description,
                type: value.type,
                value: value.value,
                default_value: value.default_value,
                required: bool(value.required),
                sensitive: bool(value.sensitive)
              }))
            )
          )
        }),
      storePlanned: (id, { has_ai_task, has_external_agent, parameters, presets, updated_at }) =>
        Effect.gen(function* () {
          yield* run(
            sql`UPDATE template_versions
              SET has_ai_task = ${bool(has_ai_task)}, has_external_agent = ${bool(has_external_agent)}, updated_at = ${updated_at}
              WHERE id = ${id}`
          )
          yield* run(sql`DELETE FROM template_version_parameters WHERE template_version_id = ${id}`)
          yield* run(sql`DELETE FROM template_version_presets WHERE template_version_id = ${id}`)
          yield* run(
            insertAll(
              sql,
              "template_version_parameters",
              parameters.map((value) => ({
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
              }))
            )
          )
          yield* run(
            insertAll(
              sql,
              "template_version_presets",
              presets.map((value) => ({
                id: value.id,
                template_version_id: id,
                name: value.name,
                description: value.description,
                icon: value.icon,
                is_default: bool(value.default),
                desired_prebuild_instances: value.desired_prebuild_instances,
                prebuild_policy: JSON.stringify(value.prebuild_policy),
                parameters: JSON.stringify(value.parameters)
              }))
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
      presets: (id) =>
        all(preset, sql`SELECT ${presetColumns} FROM template_version_presets WHERE template_version_id = ${id} ORDER BY id`),
      presetById: (id) => first(preset, sql`SELECT ${presetColumns} FROM template_version_presets WHERE id = ${id}`),
      variables: (id) =>
        all(variable, sql`SELECT ${variableColumns} FROM template_version_variables w WHERE w.template_version_id = ${id} ORDER BY w.name`),
      activeVariables: (templateId) =>
        all(
          variable,
          sql`SELECT ${variableColumns} FROM template_version_variables w
            JOIN templates t ON t.active_version_id = w.template_version_id WHERE t.id = ${templateId} ORDER BY w.name`
        )
    })
  })
)
