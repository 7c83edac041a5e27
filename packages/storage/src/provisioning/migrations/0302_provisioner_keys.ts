import { ddl } from "../../platform/Schema.js"

/** Keys with which daemons on other machines connect. */
export default ddl(
  `CREATE TABLE provisioner_keys (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    tags :json NOT NULL,
    hashed_secret :bytes NOT NULL
  )`,
  `CREATE UNIQUE INDEX provisioner_keys_organization_id_name ON provisioner_keys (organization_id, name)`,
  `CREATE UNIQUE INDEX provisioner_keys_hashed_secret ON provisioner_keys (hashed_secret)`
)
