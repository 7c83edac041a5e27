import { ddl } from "../../platform/Schema.js"

/** The thumbprints of the keys that tokens are bound to (RFC 9449 §6); null for those that are bound to none. */
export default ddl(`ALTER TABLE api_keys ADD COLUMN dpop_jkt TEXT`, `ALTER TABLE oauth2_grants ADD COLUMN dpop_jkt TEXT`)
