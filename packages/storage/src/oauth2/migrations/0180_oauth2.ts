import { Effect } from "effect"
import { ddl, trigger } from "../../platform/Schema.js"

/** The authorization server: its clients, and what users have permitted them. */
export default Effect.all(
  [
    ddl(
      `CREATE TABLE oauth2_apps (
        id :uuid PRIMARY KEY,
        created_at :timestamp NOT NULL,
        updated_at :timestamp NOT NULL,
        name TEXT NOT NULL,
        icon TEXT NOT NULL,
        redirect_uris :json NOT NULL,
        client_type TEXT NOT NULL CHECK (client_type IN ('public', 'confidential')),
        dynamically_registered :boolean NOT NULL,
        token_endpoint_auth_method TEXT NOT NULL,
        grant_types :json NOT NULL,
        response_types :json NOT NULL,
        metadata :json NOT NULL,
        last_used_at :timestamp,
        hashed_registration_token :bytes
      )`,
      `CREATE INDEX oauth2_apps_by_name ON oauth2_apps (name, id)`,
      `CREATE INDEX oauth2_apps_unused ON oauth2_apps (created_at) WHERE last_used_at IS NULL AND dynamically_registered`,
      `CREATE TABLE oauth2_app_secrets (
        id :uuid PRIMARY KEY,
        app_id :uuid NOT NULL REFERENCES oauth2_apps (id) ON DELETE CASCADE,
        created_at :timestamp NOT NULL,
        prefix TEXT NOT NULL,
        hashed_secret :bytes NOT NULL,
        truncated TEXT NOT NULL,
        last_used_at :timestamp
      )`,
      `CREATE UNIQUE INDEX oauth2_app_secrets_prefix ON oauth2_app_secrets (prefix)`,
      `CREATE INDEX oauth2_app_secrets_by_app ON oauth2_app_secrets (app_id, created_at, id)`,
      // Deleting a key deletes its grant. The key that a user consented with holds only a code that is not redeemed
      `CREATE TABLE oauth2_grants (
        id :uuid PRIMARY KEY,
        app_id :uuid NOT NULL REFERENCES oauth2_apps (id) ON DELETE CASCADE,
        user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        status TEXT NOT NULL CHECK (status IN ('issued', 'active', 'revoked', 'expired')),
        created_at :timestamp NOT NULL,
        updated_at :timestamp NOT NULL,
        code_prefix TEXT NOT NULL,
        hashed_code :bytes NOT NULL,
        code_expires_at :timestamp NOT NULL,
        redirect_uri TEXT,
        hashed_state TEXT,
        code_challenge TEXT NOT NULL,
        resource :json NOT NULL,
        scopes :json NOT NULL,
        secret_id :uuid REFERENCES oauth2_app_secrets (id) ON DELETE CASCADE,
        consent_key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
        api_key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
        refresh_expires_at :timestamp
      )`,
      `CREATE UNIQUE INDEX oauth2_grants_code_prefix ON oauth2_grants (code_prefix)`,
      `CREATE UNIQUE INDEX oauth2_grants_api_key_id ON oauth2_grants (api_key_id)`,
      `CREATE INDEX oauth2_grants_by_app ON oauth2_grants (app_id, user_id, created_at)`,
      `CREATE INDEX oauth2_grants_by_user ON oauth2_grants (user_id)`,
      `CREATE INDEX oauth2_grants_by_secret ON oauth2_grants (secret_id)`,
      `CREATE INDEX oauth2_grants_by_consent_key ON oauth2_grants (consent_key_id)`,
      `CREATE INDEX oauth2_grants_by_code_expiry ON oauth2_grants (code_expires_at) WHERE status <> 'active'`,
      `CREATE INDEX oauth2_grants_by_refresh_expiry ON oauth2_grants (refresh_expires_at) WHERE status = 'active'`,
      `CREATE TABLE oauth2_refresh_tokens (
        prefix TEXT PRIMARY KEY,
        grant_id :uuid NOT NULL REFERENCES oauth2_grants (id) ON DELETE CASCADE,
        hashed_secret :bytes NOT NULL,
        expires_at :timestamp NOT NULL,
        rotated_at :timestamp
      )`,
      `CREATE INDEX oauth2_refresh_tokens_by_grant ON oauth2_refresh_tokens (grant_id)`,
      `CREATE INDEX oauth2_refresh_tokens_by_expiry ON oauth2_refresh_tokens (expires_at)`,
      // The resources that an access token is bound to (RFC 8707); null for keys that are bound to none
      `ALTER TABLE api_keys ADD COLUMN audience :json`
    ),
    // A grant that ends with its app, secret or user takes its access token along
    trigger({
      name: "oauth2_grant_deleted",
      when: "AFTER DELETE ON oauth2_grants",
      statements: ["DELETE FROM api_keys WHERE id = OLD.api_key_id"]
    })
  ],
  { discard: true }
)
