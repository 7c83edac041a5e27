/** Versions as readers see them. templates-and-provisioning.md §3.3, §3.4. */
import { Schema } from "effect"
import { present } from "../../platform/lists/Present.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { nil, Uuid } from "../../platform/texts/Uuid.js"
import { JobView, jobView, MatchedProvisionersView } from "../../provisioning/jobs/JobView.js"
import type { MatchedProvisioners, QueuedJob } from "../../provisioning/jobs/ProvisionerJob.js"
import type { AuthoredVersion } from "./TemplateVersion.js"

export const TemplateVersionView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  organization_id: Uuid,
  /** The nil UUID without a template. */
  template_id: Uuid,
  name: Schema.String,
  message: Schema.String,
  readme: Schema.String,
  archived: Schema.Boolean,
  has_external_agent: Schema.Boolean,
  /** The name of the engine that has imported it and that runs its workspaces. Absent until the import succeeds, and where a daemon has not told it. */
  engine: Schema.optional(Schema.String),
  created_by: Schema.Struct({
    id: Uuid,
    username: Schema.String,
    name: Schema.optional(Schema.String),
    avatar_url: Schema.optional(Schema.String)
  }),
  /** The import. */
  job: JobView,
  /** While the import waits for a daemon. */
  matched_provisioners: Schema.optional(MatchedProvisionersView),
  /** Absent: no version of ours has the parameters of old that it warns of. */
  warnings: Schema.optional(Schema.Array(Schema.Literal("UNSUPPORTED_WORKSPACES")))
})
export interface TemplateVersionView extends Schema.Schema.Type<typeof TemplateVersionView> {}

export const templateVersionView = (
  version: AuthoredVersion,
  job: QueuedJob,
  matched: MatchedProvisioners | undefined
): TemplateVersionView => ({
  id: version.id,
  created_at: version.created_at,
  updated_at: version.updated_at,
  organization_id: version.organization_id,
  template_id: version.template_id ?? nil,
  name: version.name,
  message: version.message,
  readme: version.readme,
  archived: version.archived,
  has_external_agent: version.has_external_agent ?? false,
  ...present("engine", version.engine),
  created_by: {
    id: version.created_by,
    username: version.created_by_username,
    ...present("name", version.created_by_name),
    ...present("avatar_url", version.created_by_avatar_url)
  },
  job: jobView(job),
  ...(matched === undefined ? {} : { matched_provisioners: matched })
})
