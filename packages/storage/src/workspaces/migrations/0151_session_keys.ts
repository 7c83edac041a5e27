import { ddl } from "../../platform/Schema.js"

/** The keys that programs of workspaces have, from a start to the next stop. */
export default ddl(
  `CREATE TABLE workspace_session_keys (
    workspace_id :uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
    api_key_id TEXT NOT NULL
  )`
)
