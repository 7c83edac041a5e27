import { ddl } from "../Schema.js"

/** Values the deployment keeps for itself, by key. */
export default ddl(`CREATE TABLE deployment_values (key TEXT PRIMARY KEY, value TEXT NOT NULL)`)
