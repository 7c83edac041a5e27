import { ddl } from "../../platform/Schema.js"

/** Signed texts of clients that were used, until they expire by themselves: assertions (RFC 7523) and proofs (RFC 9449). */
export default ddl(
  `CREATE TABLE oauth2_used_tokens (
    hashed_id :bytes PRIMARY KEY,
    expires_at :timestamp NOT NULL
  )`,
  `CREATE INDEX oauth2_used_tokens_by_expiry ON oauth2_used_tokens (expires_at)`
)
