import { ddl } from "../../platform/Schema.js"

/**
 * The identities of users at login providers. Tokens are encrypted. Claims are a JSON document that is only ever read as a whole: as text
 * it may hold any character that a provider sends.
 */
export default ddl(
  `CREATE TABLE user_links (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    login_type TEXT NOT NULL CHECK (login_type IN ('github', 'oidc')),
    linked_id TEXT NOT NULL,
    oauth_expiry :timestamp,
    tokens_key_id TEXT NOT NULL,
    tokens :bytes NOT NULL,
    claims TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE UNIQUE INDEX user_links_user_id_login_type ON user_links (user_id, login_type)`,
  `CREATE UNIQUE INDEX user_links_login_type_linked_id ON user_links (login_type, linked_id) WHERE linked_id <> ''`
)
