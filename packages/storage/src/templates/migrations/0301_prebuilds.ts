import { ddl } from "../../platform/Schema.js"

/** When workspaces of presets are kept ready, whether they succeed, and whether the deployment makes any. */
export default ddl(
  `ALTER TABLE template_version_presets ADD COLUMN prebuild_policy :json NOT NULL DEFAULT '{"ttl_seconds":0,"timezone":"","schedule":[]}'`,
  `ALTER TABLE template_version_presets ADD COLUMN prebuild_status TEXT NOT NULL DEFAULT 'healthy'
    CHECK (prebuild_status IN ('healthy', 'hard_limited', 'validation_failed'))`,
  `ALTER TABLE template_version_presets ADD COLUMN last_invalidated_at :timestamp`,
  `CREATE INDEX template_version_presets_prebuilt ON template_version_presets (template_version_id) WHERE desired_prebuild_instances > 0`,
  `CREATE TABLE prebuilds_settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    reconciliation_paused :boolean NOT NULL
  )`
)
