import { ddl } from "../../platform/Schema.js"

/** The public keys by which users' SSH clients log in. A key belongs to one user, as it is all that a client shows. */
export default ddl(
  `CREATE TABLE user_ssh_keys (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    last_used_at :timestamp
  )`,
  `CREATE UNIQUE INDEX user_ssh_keys_fingerprint ON user_ssh_keys (fingerprint)`,
  `CREATE INDEX user_ssh_keys_user_id_created_at ON user_ssh_keys (user_id, created_at, id)`
)
