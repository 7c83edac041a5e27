import { ddl } from "../../platform/Schema.js"

/** The number of lines of a row, so that a page of lines reads no more rows than it needs. */
export default ddl(`ALTER TABLE workspace_agent_logs ADD COLUMN lines INTEGER NOT NULL DEFAULT 1`)
