import { ddl } from "../../platform/Schema.js"

/** The tokens of users at external providers, and the providers that versions of templates need. Tokens are encrypted. deployment.md §10. */
export default ddl(
  `CREATE TABLE external_auth_links (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider_id TEXT NOT NULL,
    oauth_expiry :timestamp,
    refresh_failure TEXT NOT NULL,
    tokens_key_id TEXT NOT NULL,
    tokens :bytes NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE UNIQUE INDEX external_auth_links_user_id_provider_id ON external_auth_links (user_id, provider_id)`,
  `ALTER TABLE template_versions ADD COLUMN external_auth_providers TEXT NOT NULL DEFAULT '[]'`
)
