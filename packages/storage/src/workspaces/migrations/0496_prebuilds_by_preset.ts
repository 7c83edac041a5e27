import { prebuildsUserId } from "@atelier/core/access"
import { ddl } from "../../platform/Schema.js"

/** The first builds of prebuilt workspaces by their preset, which metrics count. notifications-audit-insights.md Part E. */
export default ddl(
  `CREATE INDEX workspace_builds_of_prebuilds ON workspace_builds (template_version_preset_id)
    WHERE build_number = 1 AND initiator_id = '${prebuildsUserId}'`
)
