/** Tasks as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, ignored } from "../audit/AuditedResource.js"
import type { Task } from "./Task.js"

export const taskAudit = auditedResource<Task>({
  type: "task",
  endsRightsOf: "none",
  fields: {
    id: audited,
    created_at: ignored,
    organization_id: ignored,
    owner_id: audited,
    name: audited,
    display_name: audited,
    workspace_id: audited,
    template_version_id: audited,
    prompt: audited,
    deleted_at: ignored
  }
})
