import { ProvisionerTags } from "@atelier/core/provisioning"
import { TemplateVersionRepository } from "@atelier/core/templates"
import { Effect, Option } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { boolean, columnList, json, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, runUnique } from "../../platform/Statement.js"
import { limited, rowsWanted } from "../../platform/Limit.js"
import { jobIs } from "../../provisioning/JobStatus.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"
import { versionContents } from "./VersionContents.js"

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
  engine: nullable(text()),
  workspace_tags: json(ProvisionerTags)
}

const authored = row({ ...columns, created_by_username: text(), created_by_name: text(), created_by_avatar_url: text() })

export const layer = service(
  TemplateVersionRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    const selected = sql`SELECT ${sql.literal(columnList(columns, "v"))},
      u.username AS created_by_username, u.name AS created_by_name, u.avatar_url AS created_by_avatar_url
      FROM template_versions v JOIN users u ON u.id = v.created_by`

    return TemplateVersionRepository.of({
      ...versionContents(sql),
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
      describe: (id, change) => runUnique(Effect.asVoid(sql`UPDATE template_versions SET ${sql.update({ ...change })} WHERE id = ${id}`)),
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
        )
    })
  })
)
