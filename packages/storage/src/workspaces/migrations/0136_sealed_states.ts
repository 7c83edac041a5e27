import { ddl } from "../../platform/Schema.js"

/**
 * What an engine keeps of a build is encrypted, and `provisioner_state` empty. One that is not empty is from before: it is read as it is
 * until it is encrypted too, for which the index finds it.
 */
export default ddl(
  `ALTER TABLE workspace_builds ADD COLUMN sealed_state_key_id TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE workspace_builds ADD COLUMN sealed_state :bytes`,
  `CREATE INDEX workspace_builds_plain_states ON workspace_builds (id) WHERE length(provisioner_state) > 0`
)
