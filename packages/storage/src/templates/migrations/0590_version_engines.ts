import { ddl } from "../../platform/Schema.js"

/** The engine that has imported a version, and that runs its workspaces. */
export default ddl(`ALTER TABLE template_versions ADD COLUMN engine TEXT`)
