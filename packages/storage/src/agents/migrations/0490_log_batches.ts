import { ddl } from "../../platform/Schema.js"

/**
 * Lines that arrive together are one row: its own columns are of the first, `more` has the others as a JSON list of level, output and time. The id is that
 * of the last line, and those before it count down.
 */
export default ddl(`ALTER TABLE workspace_agent_logs ADD COLUMN more TEXT`)
