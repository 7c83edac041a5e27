import { ddl } from "../../platform/Schema.js"

/**
 * The passcodes for password resets, one per user. The code itself is stored, encrypted, only until it has been sent. Also the index of
 * users by the time they were last seen.
 */
export default ddl(
  `CREATE TABLE one_time_passcodes (
    id :uuid NOT NULL,
    user_id :uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hashed_passcode TEXT NOT NULL,
    expires_at :timestamp NOT NULL,
    unsent_key_id TEXT,
    unsent_passcode :bytes,
    due_at :timestamp NOT NULL
  )`,
  `CREATE UNIQUE INDEX one_time_passcodes_id ON one_time_passcodes (id)`,
  `CREATE INDEX one_time_passcodes_unsent ON one_time_passcodes (due_at) WHERE unsent_passcode IS NOT NULL`,
  `CREATE INDEX one_time_passcodes_by_expiry ON one_time_passcodes (expires_at)`,
  // With the status among its columns, SQLite prefers it to `users_by_status`
  `CREATE INDEX users_active_by_last_seen ON users (status, last_seen_at) WHERE status = 'active' AND NOT deleted AND NOT is_system`
)
