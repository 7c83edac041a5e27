import { ddl } from "../../platform/Schema.js"

/** The token of an agent that its users start is stored encrypted too. The index finds those whose key has been replaced. */
export default ddl(
  `ALTER TABLE workspace_agents ADD COLUMN sealed_token_key_id TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE workspace_agents ADD COLUMN sealed_token :bytes`,
  `CREATE INDEX workspace_agents_with_sealed_tokens ON workspace_agents (id) WHERE sealed_token_key_id <> ''`
)
