/** Templates and versions as audit entries show them. notifications-audit-insights.md §B3, §B4. */
import type { Subject } from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedResource, ignored, shown, shownAs } from "../audit/AuditedResource.js"
import { nil } from "../platform/texts/Uuid.js"
import type { Template } from "./Template.js"
import type { TemplateVersion } from "./versions/TemplateVersion.js"

const nanoseconds = (milliseconds: number): number => milliseconds * 1_000_000

/** The ACL of a template that names no user or group. */
const emptyAcl = "map[]"

/** An ACL as one text, its users or groups in the order of their ids. §B4. */
const aclText = (acl: Template["user_acl"]): string =>
  `map[${Object.entries(acl)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([id, actions]) => `${id}:[${actions.join(" ")}]`)
    .join(" ")}]`

const templateAudit = auditedResource<Template>({
  type: "template",
  endsRightsOf: "acl",
  fields: {
    id: audited,
    created_at: ignored,
    updated_at: ignored,
    organization_id: ignored,
    deleted: ignored,
    name: audited,
    display_name: audited,
    description: audited,
    icon: audited,
    provisioner: audited,
    active_version_id: audited,
    default_ttl_ms: shownAs("default_ttl", nanoseconds),
    activity_bump_ms: shownAs("activity_bump", nanoseconds),
    autostart_block_days_of_week: audited,
    autostop_requirement_days_of_week: audited,
    autostop_requirement_weeks: audited,
    created_by: audited,
    group_acl: shown(aclText, emptyAcl),
    user_acl: shown(aclText, emptyAcl),
    allow_user_autostart: audited,
    allow_user_autostop: audited,
    allow_user_cancel_workspace_jobs: audited,
    failure_ttl_ms: shownAs("failure_ttl", nanoseconds),
    time_til_dormant_ms: shownAs("time_til_dormant", nanoseconds),
    time_til_dormant_autodelete_ms: shownAs("time_til_dormant_autodelete", nanoseconds),
    time_til_autostop_notify_ms: shownAs("time_til_autostop_notify", nanoseconds),
    require_active_version: audited,
    deprecated: audited,
    max_port_share_level: shownAs("max_port_sharing_level"),
    use_classic_parameter_flow: audited,
    cors_behavior: audited,
    disable_module_cache: audited,
    // A new template has the default
    agents_allowed: shown((allowed: boolean) => allowed, true),
    active_user_count: ignored,
    build_time_stats: ignored
  }
})

const noTemplate = "null"

const versionAudit = auditedResource<TemplateVersion>({
  type: "template_version",
  endsRightsOf: "none",
  fields: {
    id: audited,
    created_at: ignored,
    updated_at: ignored,
    organization_id: ignored,
    template_id: shown((id: TemplateVersion["template_id"]) => (id === null || id === nil ? noTemplate : id), noTemplate),
    name: audited,
    message: ignored,
    readme: audited,
    job_id: ignored,
    created_by: audited,
    archived: audited,
    source_example_id: ignored,
    has_ai_task: ignored,
    engine: ignored,
    has_external_agent: ignored,
    workspace_tags: ignored
  }
})

/** The subject of audit entries about a template. */
export const templateSubject = (template: Pick<Template, "id" | "name" | "organization_id">, action: AuditAction): Subject<Template> => ({
  action,
  resource: templateAudit,
  id: template.id,
  target: template.name,
  organization_id: template.organization_id
})

/** The subject of audit entries about a version. */
export const versionSubject = (
  version: Pick<TemplateVersion, "id" | "name" | "organization_id">,
  action: AuditAction
): Subject<TemplateVersion> => ({
  action,
  resource: versionAudit,
  id: version.id,
  target: version.name,
  organization_id: version.organization_id
})
