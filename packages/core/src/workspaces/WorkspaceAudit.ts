/** Workspaces and builds as audit entries show them. notifications-audit-insights.md §B3, §B4. */
import type { Subject } from "../audit/Audit.js"
import { audited, auditedResource, auditedTextOrNone, auditedTimeOrNone, ignored, shownAs } from "../audit/AuditedResource.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { nil } from "../platform/texts/Uuid.js"
import type { WorkspaceBuild } from "./builds/WorkspaceBuild.js"
import type { Workspace } from "./Workspace.js"

/** Durations are shown in nanoseconds. */
const workspaceAudit = auditedResource<Workspace>({
  type: "workspace",
  endsRightsOf: "acl",
  fields: {
    id: audited,
    created_at: ignored,
    updated_at: ignored,
    owner_id: audited,
    organization_id: ignored,
    template_id: audited,
    deleted: ignored,
    name: audited,
    autostart_schedule: auditedTextOrNone,
    ttl_ms: shownAs("ttl", (ttl: number | null) => (ttl === null ? null : ttl * 1e6)),
    last_used_at: ignored,
    dormant_at: auditedTimeOrNone,
    deleting_at: auditedTimeOrNone,
    automatic_updates: audited,
    favorite: audited,
    next_start_at: auditedTimeOrNone,
    expires_at: auditedTimeOrNone,
    group_acl: audited,
    user_acl: audited,
    task_id: ignored
  }
})

export const buildAudit = auditedResource<WorkspaceBuild>({
  type: "workspace_build",
  endsRightsOf: "none",
  fields: {
    id: ignored,
    created_at: ignored,
    updated_at: ignored,
    workspace_id: ignored,
    template_version_id: audited,
    build_number: ignored,
    transition: ignored,
    initiator_id: ignored,
    job_id: ignored,
    deadline: ignored,
    max_deadline: ignored,
    reason: ignored,
    daily_cost: ignored,
    template_version_preset_id: ignored,
    has_ai_task: ignored,
    has_external_agent: ignored,
    initiator_ip: ignored
  }
})

/** The subject of audit entries about a workspace. */
export const workspaceSubject = (
  workspace: Pick<Workspace, "id" | "name" | "organization_id">,
  action: AuditAction
): Subject<Workspace> => ({
  action,
  resource: workspaceAudit,
  id: workspace.id,
  target: workspace.name,
  organization_id: workspace.organization_id
})

/** Additional fields of audit entries about builds and new workspaces; those that do not apply are empty. workspaces.md §4.5. */
export const buildAuditFields = { workspace_name: "", build_number: "", build_reason: "", workspace_id: nil, workspace_owner: "" }
