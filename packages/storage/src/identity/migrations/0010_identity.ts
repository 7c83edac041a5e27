import { ddl } from "../../platform/Schema.js"

/** Users and their credentials. */
export default ddl(
  `CREATE TABLE users (
    id :uuid PRIMARY KEY,
    email TEXT NOT NULL,
    username TEXT NOT NULL,
    name TEXT NOT NULL,
    avatar_url TEXT NOT NULL,
    hashed_password TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'dormant', 'suspended')),
    login_type TEXT NOT NULL,
    rbac_roles :json NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    last_seen_at :timestamp NOT NULL,
    deleted :boolean NOT NULL,
    is_system :boolean NOT NULL,
    is_service_account :boolean NOT NULL,
    theme_preference TEXT NOT NULL,
    quiet_hours_schedule TEXT NOT NULL
  )`,
  `CREATE UNIQUE INDEX users_username ON users (lower(username)) WHERE NOT deleted`,
  `CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE NOT deleted AND email <> ''`,
  `CREATE TABLE user_status_changes (
    id :serial,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    new_status TEXT NOT NULL,
    changed_at :timestamp NOT NULL
  )`,
  `CREATE INDEX user_status_changes_by_time ON user_status_changes (changed_at)`,
  `CREATE INDEX user_status_changes_by_user ON user_status_changes (user_id)`,
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hashed_secret :bytes NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    last_used :timestamp NOT NULL,
    expires_at :timestamp NOT NULL,
    lifetime_seconds :bigint NOT NULL,
    login_type TEXT NOT NULL,
    ip TEXT NOT NULL,
    token_name TEXT NOT NULL,
    scopes :json NOT NULL,
    allow_list :json NOT NULL
  )`,
  `CREATE UNIQUE INDEX api_keys_user_id_token_name ON api_keys (user_id, token_name) WHERE login_type = 'token'`,
  `CREATE INDEX api_keys_by_user ON api_keys (user_id)`,
  `CREATE INDEX api_keys_by_expiry ON api_keys (expires_at)`,
  `CREATE TABLE git_ssh_keys (
    user_id :uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    public_key TEXT NOT NULL,
    private_key TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`
)
