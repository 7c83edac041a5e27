import { ddl } from "../../platform/Schema.js"

/** When files were last used, by which those that nothing refers to are purged, and what the files of one user take. */
export default ddl(
  `ALTER TABLE files ADD COLUMN used_at :timestamp NOT NULL DEFAULT '1970-01-01T00:00:00.000Z'`,
  `UPDATE files SET used_at = created_at`,
  `CREATE INDEX files_by_use ON files (used_at)`,
  `CREATE INDEX files_by_uploader ON files (created_by, size)`
)
