import { ddl } from "../../platform/Schema.js"

/**
 * When users were deleted, and what lists of users are found by. Lists are ordered by username; the index of that order also holds what the whole list is counted by.
 * `deleted` and `is_system` are columns because SQLite does not infer them from the condition.
 */
export default ddl(
  `CREATE TABLE user_deleted (
    id :serial,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    deleted_at :timestamp NOT NULL
  )`,
  `CREATE INDEX user_deleted_by_time ON user_deleted (deleted_at)`,
  `CREATE INDEX user_deleted_by_user ON user_deleted (user_id)`,
  // 0: no account at github.com
  `ALTER TABLE users ADD COLUMN github_com_user_id :bigint NOT NULL DEFAULT 0`,
  `CREATE INDEX users_in_order ON users (lower(username), id, deleted, is_system) WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_by_status ON users (status, lower(username), deleted, is_system) WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_by_login_type ON users (login_type, lower(username), deleted, is_system) WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_by_last_seen ON users (last_seen_at) WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_by_creation ON users (created_at) WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_service_accounts ON users (is_service_account, lower(username), deleted, is_system)
    WHERE NOT deleted AND NOT is_system`,
  `CREATE INDEX users_with_roles ON users (lower(username)) WHERE rbac_roles <> '[]' AND NOT deleted AND NOT is_system`,
  `CREATE INDEX users_by_github_account ON users (github_com_user_id) WHERE github_com_user_id <> 0 AND NOT deleted AND NOT is_system`
)
