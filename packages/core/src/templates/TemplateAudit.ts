/** Templates and versions as audit entries show them. notifications-audit-insights.md §B3, §B4. */
import type { Subject } from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { absentText } from "../audit/AuditedFields.js"
import { nil } from "../platform/texts/Uuid.js"
import type { Template } from "./Template.js"
import type { TemplateVersion } from "./versions/TemplateVersion.js"

/** The subject of audit entries about a template. */
export const templateSubject = (template: Pick<Template, "id" | "name" | "organization_id">, action: AuditAction): Subject => ({
  action,
  type: "template",
  id: template.id,
  target: template.name,
  organization_id: template.organization_id
})

/** The subject of audit entries about a version. */
export const versionSubject = (version: Pick<TemplateVersion, "id" | "name" | "organization_id">, action: AuditAction): Subject => ({
  action,
  type: "template_version",
  id: version.id,
  target: version.name,
  organization_id: version.organization_id
})

const nanosecondsPerMillisecond = 1_000_000

/** An ACL as one text, its users or groups in the order of their ids. §B4. */
const aclText = (acl: Template["user_acl"]): string =>
  `map[${Object.entries(acl)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([id, actions]) => `${id}:[${actions.join(" ")}]`)
    .join(" ")}]`

/** The audited fields of a template: durations in nanoseconds, ACLs as texts. */
export const auditedTemplate = (template: Template): object => ({
  id: template.id,
  name: template.name,
  display_name: template.display_name,
  description: template.description,
  icon: template.icon,
  provisioner: template.provisioner,
  active_version_id: template.active_version_id,
  default_ttl: template.default_ttl_ms * nanosecondsPerMillisecond,
  activity_bump: template.activity_bump_ms * nanosecondsPerMillisecond,
  autostart_block_days_of_week: template.autostart_block_days_of_week,
  autostop_requirement_days_of_week: template.autostop_requirement_days_of_week,
  autostop_requirement_weeks: template.autostop_requirement_weeks,
  created_by: template.created_by,
  group_acl: aclText(template.group_acl),
  user_acl: aclText(template.user_acl),
  allow_user_autostart: template.allow_user_autostart,
  allow_user_autostop: template.allow_user_autostop,
  allow_user_cancel_workspace_jobs: template.allow_user_cancel_workspace_jobs,
  failure_ttl: template.failure_ttl_ms * nanosecondsPerMillisecond,
  time_til_dormant: template.time_til_dormant_ms * nanosecondsPerMillisecond,
  time_til_dormant_autodelete: template.time_til_dormant_autodelete_ms * nanosecondsPerMillisecond,
  time_til_autostop_notify: template.time_til_autostop_notify_ms * nanosecondsPerMillisecond,
  require_active_version: template.require_active_version,
  deprecated: template.deprecated,
  max_port_sharing_level: template.max_port_share_level,
  use_classic_parameter_flow: template.use_classic_parameter_flow,
  cors_behavior: template.cors_behavior,
  disable_module_cache: template.disable_module_cache,
  agents_allowed: template.agents_allowed
})

/** The audited fields of a version. */
export const auditedVersion = (version: TemplateVersion): object => ({
  id: version.id,
  template_id: version.template_id === null || version.template_id === nil ? absentText : version.template_id,
  name: version.name,
  readme: version.readme,
  created_by: version.created_by,
  archived: version.archived
})
