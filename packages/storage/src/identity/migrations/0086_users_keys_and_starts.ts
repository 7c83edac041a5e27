import { ddl } from "../../platform/Schema.js"

/**
 * The private half of keys for git is encrypted, and `private_key` empty. One without the id of an encryption key is from before: it is read
 * as it is until it is encrypted too, for which the first index finds it. By the other, what a user last gave for a template's parameters
 * is found.
 */
export default ddl(
  `ALTER TABLE git_ssh_keys ADD COLUMN sealed_key_id TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE git_ssh_keys ADD COLUMN sealed_key :bytes`,
  `CREATE INDEX git_ssh_keys_plain ON git_ssh_keys (user_id) WHERE sealed_key_id = ''`,
  `CREATE INDEX workspace_builds_starts ON workspace_builds (workspace_id, created_at, id, template_version_id) WHERE transition = 'start'`
)
