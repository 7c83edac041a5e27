import { ddl } from "../../platform/Schema.js"

/** The secrets of users for their workspaces. Values are encrypted; a path is too long for an index, so its hash is in one. */
export default ddl(
  `CREATE TABLE user_secrets (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    env_name TEXT NOT NULL,
    file_path TEXT NOT NULL,
    file_path_hash :bytes NOT NULL,
    enabled :boolean NOT NULL,
    value_size INTEGER NOT NULL,
    value_key_id TEXT NOT NULL,
    value :bytes NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE UNIQUE INDEX user_secrets_user_id_name ON user_secrets (user_id, name)`,
  `CREATE UNIQUE INDEX user_secrets_user_id_env_name ON user_secrets (user_id, env_name) WHERE env_name <> ''`,
  `CREATE UNIQUE INDEX user_secrets_user_id_file_path_hash ON user_secrets (user_id, file_path_hash) WHERE file_path <> ''`
)
