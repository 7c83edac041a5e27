import { ddl } from "../../platform/Schema.js"

/**
 * The mappings of identity providers' claims: of the deployment, which the nil UUID stands for, and of organizations. `settings` is null
 * only while the first to write them has not committed.
 */
export default ddl(
  `CREATE TABLE idp_sync_settings (
    organization_id :uuid NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('organization', 'group', 'role')),
    settings :json,
    updated_at :timestamp NOT NULL,
    PRIMARY KEY (organization_id, kind)
  )`
)
