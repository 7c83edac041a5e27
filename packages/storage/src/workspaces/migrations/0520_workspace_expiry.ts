import { ddl } from "../../platform/Schema.js"

/** When workspaces are deleted. The index finds those whose time has come. */
export default ddl(
  `ALTER TABLE workspaces ADD COLUMN expires_at :timestamp`,
  `CREATE INDEX workspaces_by_expiry ON workspaces (expires_at) WHERE expires_at IS NOT NULL AND NOT deleted`
)
