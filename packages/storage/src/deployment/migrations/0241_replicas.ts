import { ddl } from "../../platform/Schema.js"

/** The processes that serve the deployment. deployment.md §8. */
export default ddl(
  `CREATE TABLE replicas (
    id :uuid PRIMARY KEY,
    hostname TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    relay_address TEXT NOT NULL,
    region_id INTEGER NOT NULL,
    error TEXT NOT NULL,
    database_latency INTEGER NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE INDEX replicas_updated_at ON replicas (updated_at)`
)
