/** Workspaces and builds as audit entries show them. notifications-audit-insights.md §B3, §B4. */
import type { Subject } from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { absentText, auditedTime } from "../audit/AuditedFields.js"
import { nil } from "../platform/texts/Uuid.js"
import type { Workspace } from "./Workspace.js"

/** The subject of audit entries about a workspace. */
export const workspaceSubject = (workspace: Pick<Workspace, "id" | "name" | "organization_id">, action: AuditAction): Subject => ({
  action,
  type: "workspace",
  id: workspace.id,
  target: workspace.name,
  organization_id: workspace.organization_id
})

/** The audited fields of a workspace: durations in nanoseconds. */
export const auditedWorkspace = (workspace: Workspace) => ({
  ...workspace,
  autostart_schedule: workspace.autostart_schedule ?? absentText,
  ttl: workspace.ttl_ms === null ? null : workspace.ttl_ms * 1e6,
  dormant_at: auditedTime(workspace.dormant_at),
  deleting_at: auditedTime(workspace.deleting_at),
  next_start_at: auditedTime(workspace.next_start_at)
})

/** Additional fields of audit entries about builds and new workspaces; those that do not apply are empty. workspaces.md §4.5. */
export const buildAuditFields = { workspace_name: "", build_number: "", build_reason: "", workspace_id: nil, workspace_owner: "" }
