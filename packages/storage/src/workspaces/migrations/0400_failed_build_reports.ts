import { ddl } from "../../platform/Schema.js"

/** When template administrators were last told of failed builds, and the builds of a time. notifications-audit-insights.md §A2. */
export default ddl(
  `CREATE TABLE failed_build_reports (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    reported_at :timestamp NOT NULL
  )`,
  `CREATE INDEX workspace_builds_by_creation ON workspace_builds (created_at)`
)
