import { ddl } from "../../platform/Schema.js"

/** Keys that the deployment shares with its workspace proxies. agents-and-apps.md §20. */
export default ddl(
  `CREATE TABLE crypto_keys (
    id :uuid PRIMARY KEY,
    feature TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    starts_at :timestamp NOT NULL,
    deletes_at :timestamp,
    secret_key_id TEXT,
    secret :bytes,
    CHECK ((secret_key_id IS NULL) = (secret IS NULL))
  )`,
  `CREATE UNIQUE INDEX crypto_keys_feature_sequence ON crypto_keys (feature, sequence)`
)
