/** One state of a template's source, imported by a job. templates-and-provisioning.md §3. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { ProvisionerTags } from "../../provisioning/queue/ProvisionerTags.js"

export const TemplateVersionId = Uuid
export type TemplateVersionId = Uuid

/** A version as it is stored. */
export const TemplateVersion = Schema.Struct({
  id: TemplateVersionId,
  created_at: Timestamp,
  updated_at: Timestamp,
  organization_id: Uuid,
  /** Null until a template is made from it. */
  template_id: Schema.NullOr(Uuid),
  /** Unique within its template. */
  name: Schema.String,
  message: Schema.String,
  /** Content of the source's `README.md`; filled by the import. At most 1 MiB. */
  readme: Schema.String,
  /** The import. */
  job_id: Uuid,
  created_by: Uuid,
  /** Hidden from lists, and never promoted. */
  archived: Schema.Boolean,
  /** The starter template it was made from. */
  source_example_id: Schema.NullOr(Schema.String),
  /** Null until the import succeeds. */
  has_ai_task: Schema.NullOr(Schema.Boolean),
  has_external_agent: Schema.NullOr(Schema.Boolean),
  /** The name of the engine that has imported it. Null until the import succeeds, and where a daemon has not told it. */
  engine: Schema.NullOr(Schema.String),
  /** Tags that the source gives to builds, as raw expressions; filled by the import. */
  workspace_tags: ProvisionerTags
})
export interface TemplateVersion extends Schema.Schema.Type<typeof TemplateVersion> {}

/** A version with who made it. */
export interface AuthoredVersion extends TemplateVersion {
  readonly created_by_username: string
  readonly created_by_name: string
  readonly created_by_avatar_url: string
}

const maximumName = 64
const namePattern = /^[a-zA-Z0-9]+(?:[_.-][a-zA-Z0-9]+)*$/

/** The rule a version's name breaks, or undefined: at most 64 letters and digits, with single `_`, `.` and `-` between them. */
export const versionNameViolation = (name: string): string | undefined => {
  if (name.length > maximumName) return `must be at most ${maximumName} characters`
  return namePattern.test(name) ? undefined : 'must consist of letters and digits, with single "_", "." and "-" between them'
}

const maximumMessage = 1_048_576

/** The rule a version's message breaks, or undefined. */
export const messageViolation = (message: string): string | undefined =>
  message.length > maximumMessage ? `must be at most ${maximumMessage} characters` : undefined
