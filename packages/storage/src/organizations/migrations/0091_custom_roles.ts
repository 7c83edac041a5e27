import { ddl } from "../../platform/Schema.js"

/** Roles that organizations made for themselves. `permissions` are actions by resource type, at the level of the organization. */
export default ddl(
  `CREATE TABLE custom_roles (
    id :uuid PRIMARY KEY,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    permissions :json NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE UNIQUE INDEX custom_roles_organization_id_name ON custom_roles (organization_id, name)`
)
