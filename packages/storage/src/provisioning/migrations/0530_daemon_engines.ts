import { ddl } from "../../platform/Schema.js"

/** The names of daemons' engines; null for a daemon that has not told them. */
export default ddl(`ALTER TABLE provisioner_daemons ADD COLUMN engines :json`)
