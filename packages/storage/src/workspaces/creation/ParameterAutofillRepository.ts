import { ParameterAutofillRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { row, text } from "../../platform/Row.js"
import { all } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const parameter = row({ name: text(), value: text() })

/** Builds that are looked into, and parameters that are answered. */
const maximumBuilds = 1000
const maximumParameters = 100

export const layer = service(
  ParameterAutofillRepository,
  Effect.map(Statements, (sql) =>
    ParameterAutofillRepository.of({
      latestValues: (userId, templateId) =>
        all(
          parameter,
          sql`WITH recent AS (
              SELECT b.id, b.template_version_id, b.created_at FROM workspaces w JOIN workspace_builds b ON b.workspace_id = w.id
              WHERE w.owner_id = ${userId} AND w.template_id = ${templateId} AND b.transition = 'start'
              ORDER BY b.created_at DESC, b.id DESC LIMIT ${maximumBuilds}
            )
            SELECT name, value FROM (
              SELECT p.name, p.value, r.created_at, row_number() OVER (PARTITION BY p.name ORDER BY r.created_at DESC, r.id DESC) AS age
              FROM recent r
              JOIN workspace_build_parameters p ON p.workspace_build_id = r.id
              JOIN template_version_parameters d ON d.template_version_id = r.template_version_id AND d.name = p.name
              WHERE NOT d.ephemeral
            ) latest
            WHERE age = 1 ORDER BY created_at DESC, name LIMIT ${maximumParameters}`
        )
    })
  )
)
