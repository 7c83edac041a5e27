import { ddl } from "../../platform/Schema.js"

/** The modules that the imports of versions have downloaded. */
export default ddl(
  `CREATE TABLE template_version_modules (
    template_version_id :uuid PRIMARY KEY REFERENCES template_versions (id) ON DELETE CASCADE,
    file_id :uuid NOT NULL REFERENCES files (id)
  )`,
  `CREATE INDEX template_version_modules_by_file ON template_version_modules (file_id)`
)
