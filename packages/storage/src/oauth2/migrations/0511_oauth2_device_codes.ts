import { ddl } from "../../platform/Schema.js"

/** Devices that wait for a user to type their code elsewhere (RFC 8628). A permission ends with the session that gave it. */
export default ddl(
  `CREATE TABLE oauth2_device_codes (
    id :uuid PRIMARY KEY,
    app_id :uuid NOT NULL REFERENCES oauth2_apps (id) ON DELETE CASCADE,
    prefix TEXT NOT NULL,
    hashed_secret :bytes NOT NULL,
    hashed_user_code :bytes NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
    scopes :json NOT NULL,
    resource :json NOT NULL,
    created_at :timestamp NOT NULL,
    expires_at :timestamp NOT NULL,
    interval_seconds INTEGER NOT NULL,
    polled_at :timestamp,
    user_id :uuid REFERENCES users (id) ON DELETE CASCADE,
    consent_key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE
  )`,
  `CREATE UNIQUE INDEX oauth2_device_codes_prefix ON oauth2_device_codes (prefix)`,
  `CREATE UNIQUE INDEX oauth2_device_codes_hashed_user_code ON oauth2_device_codes (hashed_user_code)`,
  `CREATE INDEX oauth2_device_codes_by_app ON oauth2_device_codes (app_id)`,
  `CREATE INDEX oauth2_device_codes_by_user ON oauth2_device_codes (user_id)`,
  `CREATE INDEX oauth2_device_codes_by_key ON oauth2_device_codes (consent_key_id)`,
  `CREATE INDEX oauth2_device_codes_by_expiry ON oauth2_device_codes (expires_at)`
)
