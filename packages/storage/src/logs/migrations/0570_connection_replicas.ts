import { ddl } from "../../platform/Schema.js"

/** The process that carries a connection. The index finds those that go on, which are few. */
export default ddl(
  `ALTER TABLE connection_logs ADD COLUMN replica_id :uuid`,
  `CREATE INDEX connection_logs_carried ON connection_logs (connect_time) WHERE replica_id IS NOT NULL AND disconnect_time IS NULL`
)
