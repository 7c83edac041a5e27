import type { WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { among } from "../../platform/Among.js"
import { row, text, uuid } from "../../platform/Row.js"
import { all } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"

const parameter = row({ name: text(), value: text() })
const parameterOf = row({ workspace_build_id: uuid, name: text(), value: text() })

/** The values that builds have for the parameters of their versions. */
export const buildParameters = (sql: Statements): Pick<WorkspaceBuildRepository["Type"], "parameters" | "parametersOf"> => ({
  parameters: (id) =>
    all(parameter, sql`SELECT name, value FROM workspace_build_parameters WHERE workspace_build_id = ${id} ORDER BY name`),
  parametersOf: (ids) =>
    all(
      parameterOf,
      sql`SELECT workspace_build_id, name, value FROM workspace_build_parameters p
        WHERE ${among(sql, sql`p.workspace_build_id`, ids)} ORDER BY name`
    )
})
