import { ddl } from "../../platform/Schema.js"

/**
 * An engine's state of a build is encrypted, and `provisioner_state` is empty. A value in it is from before: it is read until it is
 * encrypted too, for which the index finds it.
 */
export default ddl(
  `ALTER TABLE workspace_builds ADD COLUMN sealed_state_key_id TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE workspace_builds ADD COLUMN sealed_state :bytes`,
  `CREATE INDEX workspace_builds_plain_states ON workspace_builds (id) WHERE length(provisioner_state) > 0`
)
