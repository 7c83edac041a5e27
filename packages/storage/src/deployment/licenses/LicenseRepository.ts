import { LicenseCounts, LicenseRepository } from "@atelier/core/deployment"
import { Effect } from "effect"
import { columnList, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, one, run, runUnique } from "../../platform/Statement.js"
import { service, together } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = { id: number, uuid, uploaded_at: timestamp, exp: timestamp, token: text() }

const license = row(columns)
const counted = row({ count: number })

const layerRepository = service(
  LicenseRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns))
    return LicenseRepository.of({
      list: all(license, sql`SELECT ${selected} FROM licenses ORDER BY id`),
      lock: sql.dialect({
        postgres: () => run(sql`LOCK TABLE licenses IN SHARE ROW EXCLUSIVE MODE`),
        // It has one writer
        sqlite: () => Effect.void
      }),
      insert: (value, token_digest) =>
        Effect.zipRight(
          runUnique(sql`INSERT INTO licenses ${sql.insert({ ...value, token_digest })}`),
          one(license, sql`SELECT ${selected} FROM licenses WHERE token_digest = ${token_digest}`)
        ),
      remove: (id) => first(license, sql`DELETE FROM licenses WHERE id = ${id} RETURNING ${selected}`)
    })
  })
)

const layerCounts = service(
  LicenseCounts,
  Effect.map(Statements, (sql) => {
    const count = (statement: Parameters<typeof one<{ readonly count: number }>>[1]) =>
      Effect.map(one(counted, statement), (found) => found.count)
    return LicenseCounts.of({
      activeUsers: count(sql`SELECT count(*) AS count FROM users WHERE status = 'active' AND NOT deleted AND NOT is_system`),
      managedAgents: (from, until) =>
        count(
          sql`SELECT count(*) AS count FROM workspace_builds
            WHERE has_ai_task AND transition = 'start' AND created_at >= ${from} AND created_at < ${until}`
        ),
      externalAgentTemplates: count(
        sql`SELECT count(*) AS count FROM template_versions v JOIN templates t ON t.active_version_id = v.id
          WHERE v.has_external_agent AND NOT t.deleted`
      )
    })
  })
)

export const layer = together(layerRepository, layerCounts)
