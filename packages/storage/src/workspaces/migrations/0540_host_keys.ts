import { ddl } from "../../platform/Schema.js"

/** The encrypted private keys by which SSH clients know workspaces. */
export default ddl(
  `CREATE TABLE workspace_host_keys (
    workspace_id :uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at :timestamp NOT NULL,
    sealed_key_id TEXT NOT NULL,
    sealed_key :bytes NOT NULL
  )`
)
