import { ddl } from "../../platform/Schema.js"

/** Authorization requests that clients have sent ahead (RFC 9126). */
export default ddl(
  `CREATE TABLE oauth2_pushed_requests (
    prefix TEXT PRIMARY KEY,
    app_id :uuid NOT NULL REFERENCES oauth2_apps (id) ON DELETE CASCADE,
    hashed_secret :bytes NOT NULL,
    request :json NOT NULL,
    expires_at :timestamp NOT NULL
  )`,
  `CREATE INDEX oauth2_pushed_requests_by_app ON oauth2_pushed_requests (app_id)`,
  `CREATE INDEX oauth2_pushed_requests_by_expiry ON oauth2_pushed_requests (expires_at)`
)
