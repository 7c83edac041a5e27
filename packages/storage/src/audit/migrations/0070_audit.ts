import { ddl } from "../../platform/Schema.js"

/** The audit log. */
export default ddl(
  `CREATE TABLE audit_logs (
    id :uuid PRIMARY KEY,
    time :timestamp NOT NULL,
    user_id :uuid NOT NULL,
    organization_id :uuid NOT NULL,
    ip TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id :uuid NOT NULL,
    resource_target TEXT NOT NULL,
    action TEXT NOT NULL,
    diff :json NOT NULL,
    status_code INTEGER NOT NULL,
    additional_fields :json NOT NULL,
    request_id :uuid NOT NULL
  )`,
  `CREATE INDEX audit_logs_by_time ON audit_logs (time, id)`,
  `CREATE INDEX audit_logs_by_resource ON audit_logs (resource_id, time)`,
  `CREATE INDEX audit_logs_by_user ON audit_logs (user_id, time)`,
  `CREATE INDEX audit_logs_by_organization ON audit_logs (organization_id, time)`
)
