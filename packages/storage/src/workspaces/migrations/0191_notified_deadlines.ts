import { ddl } from "../../platform/Schema.js"

/** The deadline of a build that its workspace's owner was reminded of. notifications-audit-insights.md §A2. */
export default ddl(`ALTER TABLE workspace_builds ADD COLUMN notified_deadline :timestamp`)
