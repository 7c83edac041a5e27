import { FailedBuildRepository } from "@atelier/core/workspaces"
import { Effect, Option } from "effect"
import { among } from "../../platform/Among.js"
import { number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, run } from "../../platform/Statement.js"
import { jobIs } from "../../provisioning/JobStatus.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const template = row({
  id: uuid,
  organization_id: uuid,
  name: text(),
  display_name: text(),
  failed_builds: number,
  total_builds: number
})
const build = row({
  template_id: uuid,
  template_version_id: uuid,
  template_version_name: text(),
  failed_count: number,
  workspace_owner_username: text(),
  workspace_name: text(),
  workspace_id: uuid,
  build_number: number
})
const membership = row({ user_id: uuid, organization_id: uuid })
const reported = row({ reported_at: timestamp })

export const layer = service(
  FailedBuildRepository,
  Effect.map(Statements, (sql) => {
    const isFailed = sql.literal(jobIs("failed", "j"))
    const builds = sql`workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id JOIN workspaces w ON w.id = b.workspace_id`

    return FailedBuildRepository.of({
      reportedAt: Effect.map(
        first(reported, sql`SELECT reported_at FROM failed_build_reports WHERE id = 1`),
        Option.map(({ reported_at }) => reported_at)
      ),
      setReportedAt: (at) =>
        run(sql`INSERT INTO failed_build_reports (id, reported_at) VALUES (1, ${at})
          ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at`),
      templatesSince: (since) =>
        all(
          template,
          sql`SELECT t.id, t.organization_id, t.name, t.display_name, c.failed_builds, c.total_builds FROM (
              SELECT w.template_id, count(*) AS total_builds, sum(CASE WHEN ${isFailed} THEN 1 ELSE 0 END) AS failed_builds
              FROM ${builds} WHERE b.created_at >= ${since} AND j.completed_at IS NOT NULL GROUP BY w.template_id
            ) c JOIN templates t ON t.id = c.template_id WHERE c.failed_builds > 0 AND NOT t.deleted ORDER BY t.name, t.id`
        ),
      buildsSince: (since, limit) =>
        all(
          build,
          sql`SELECT f.template_id, f.template_version_id, v.name AS template_version_name, f.failed_count,
              u.username AS workspace_owner_username, f.workspace_name, f.workspace_id, f.build_number
            FROM (
              SELECT w.template_id, b.template_version_id, w.name AS workspace_name, w.id AS workspace_id, w.owner_id, b.build_number,
                count(*) OVER (PARTITION BY w.template_id, b.template_version_id) AS failed_count,
                row_number() OVER (PARTITION BY w.template_id, b.template_version_id ORDER BY b.build_number DESC, b.created_at DESC, b.id) AS place
              FROM ${builds} WHERE b.created_at >= ${since} AND ${isFailed}
            ) f JOIN template_versions v ON v.id = f.template_version_id JOIN users u ON u.id = f.owner_id
            WHERE f.place <= ${limit} ORDER BY v.name, f.template_version_id, f.place`
        ),
      membersWithRole: (role, organizationIds) =>
        all(
          membership,
          sql`SELECT m.user_id, m.organization_id FROM organization_members m JOIN users u ON u.id = m.user_id
            WHERE ${among(sql, sql`m.organization_id`, organizationIds)} AND NOT u.deleted AND NOT u.is_system AND ${sql.dialect({
              postgres: () => sql`u.rbac_roles @> ${JSON.stringify([role])}::jsonb`,
              sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(u.rbac_roles) r WHERE r.value = ${role})`
            })} ORDER BY m.user_id`
        )
    })
  })
)
