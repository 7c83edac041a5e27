import { ddl } from "../../platform/Schema.js"

/** Organizations, their members and their groups. The Everyone group has the organization's id and no stored members. */
export default ddl(
  `CREATE TABLE organizations (
    id :uuid PRIMARY KEY,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT NOT NULL,
    icon TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    is_default :boolean NOT NULL,
    deleted :boolean NOT NULL,
    default_org_member_roles :json NOT NULL,
    shareable_workspace_owners TEXT NOT NULL CHECK (shareable_workspace_owners IN ('everyone', 'service_accounts', 'none'))
  )`,
  `CREATE UNIQUE INDEX organizations_name ON organizations (lower(name)) WHERE NOT deleted`,
  `CREATE UNIQUE INDEX organizations_is_default ON organizations (is_default) WHERE is_default`,
  `CREATE TABLE organization_members (
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    roles :json NOT NULL,
    PRIMARY KEY (organization_id, user_id)
  )`,
  `CREATE INDEX organization_members_by_user ON organization_members (user_id)`,
  `CREATE TABLE groups (
    id :uuid PRIMARY KEY,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    avatar_url TEXT NOT NULL,
    quota_allowance INTEGER NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('user', 'oidc'))
  )`,
  `CREATE UNIQUE INDEX groups_organization_id_name ON groups (organization_id, name)`,
  `CREATE TABLE group_members (
    group_id :uuid NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
  )`,
  `CREATE INDEX group_members_by_user ON group_members (user_id)`
)
