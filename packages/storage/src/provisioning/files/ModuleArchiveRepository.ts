import { ModuleArchiveRepository } from "@atelier/core/provisioning"
import { Effect, Option } from "effect"
import { number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const file = row({ id: uuid, hash: text(), created_at: timestamp, created_by: uuid, mimetype: text(), size: number })
const linked = row({ file_id: uuid })

export const layer = service(
  ModuleArchiveRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    return ModuleArchiveRepository.of({
      link: (template_version_id, file_id) =>
        run(
          sql`INSERT INTO template_version_modules ${sql.insert({ template_version_id, file_id })}
            ON CONFLICT (template_version_id) DO UPDATE SET file_id = excluded.file_id`
        ),
      unlinkUnused: (before) =>
        run(
          sql`DELETE FROM template_version_modules WHERE template_version_id IN (
            SELECT m.template_version_id FROM template_version_modules m
            JOIN template_versions v ON v.id = m.template_version_id
            JOIN files f ON f.id = m.file_id
            LEFT JOIN templates t ON t.id = v.template_id
            WHERE (t.deleted AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.template_id = t.id AND NOT w.deleted))
              OR (v.template_id IS NULL AND f.used_at < ${before}))`
        ),
      ofVersion: (versionId) =>
        Effect.map(
          first(linked, sql`SELECT file_id FROM template_version_modules WHERE template_version_id = ${versionId}`),
          Option.map(({ file_id }) => file_id)
        ),
      ofBuildJob: (jobId) =>
        Effect.map(
          first(
            linked,
            sql`SELECT m.file_id FROM workspace_builds b
              JOIN template_version_modules m ON m.template_version_id = b.template_version_id
              JOIN workspaces w ON w.id = b.workspace_id
              JOIN templates t ON t.id = w.template_id
              WHERE b.job_id = ${jobId} AND NOT t.disable_module_cache`
          ),
          Option.map(({ file_id }) => file_id)
        ),
      inOrganization: (fileId, organizationId) =>
        first(
          file,
          sql`SELECT id, hash, created_at, created_by, mimetype, size FROM files WHERE id = ${fileId} AND EXISTS (
            SELECT 1 FROM template_version_modules m JOIN template_versions v ON v.id = m.template_version_id
            WHERE m.file_id = ${fileId} AND v.organization_id = ${organizationId})`
        )
    })
  })
)
