/** The columns that statements of this area select of each table. */
import { type CorsBehavior, PortShareLevel, TemplateAcl } from "@atelier/core/templates"
import { type AutomaticUpdates, WorkspaceAcl } from "@atelier/core/workspaces"
import type { BuildReason } from "@atelier/core/provisioning"
import { boolean, json, nullable, number, text, timestamp, uuid } from "../platform/Row.js"
import { columns as jobColumns } from "../provisioning/columns.js"
import { selection } from "./Selection.js"
import type { BuildTransition } from "@atelier/core/provisioning"

export const workspaces = selection("w", {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  owner_id: uuid,
  organization_id: uuid,
  template_id: uuid,
  deleted: boolean,
  name: text(),
  autostart_schedule: nullable(text()),
  ttl_ms: nullable(number),
  last_used_at: timestamp,
  dormant_at: nullable(timestamp),
  deleting_at: nullable(timestamp),
  automatic_updates: text<AutomaticUpdates>(),
  favorite: boolean,
  next_start_at: nullable(timestamp),
  expires_at: nullable(timestamp),
  user_acl: json(WorkspaceAcl),
  group_acl: json(WorkspaceAcl),
  task_id: nullable(uuid)
})

export const builds = selection("b", {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  workspace_id: uuid,
  template_version_id: uuid,
  build_number: number,
  transition: text<BuildTransition>(),
  initiator_id: uuid,
  job_id: uuid,
  deadline: nullable(timestamp),
  max_deadline: nullable(timestamp),
  reason: text<BuildReason>(),
  daily_cost: number,
  template_version_preset_id: nullable(uuid),
  has_ai_task: nullable(boolean),
  has_external_agent: nullable(boolean),
  initiator_ip: text()
})

export const jobs = selection("j", jobColumns)

export const owners = selection("u", { username: text(), avatar_url: text() })

export const initiators = selection("i", { username: text() })

export const organizations = selection("o", { name: text() })

export const versions = selection("v", { name: text() })

export const templates = selection("t", {
  id: uuid,
  organization_id: uuid,
  user_acl: json(TemplateAcl),
  group_acl: json(TemplateAcl),
  name: text(),
  display_name: text(),
  icon: text(),
  active_version_id: uuid,
  allow_user_cancel_workspace_jobs: boolean,
  require_active_version: boolean,
  use_classic_parameter_flow: boolean,
  allow_user_autostop: boolean,
  default_ttl_ms: number,
  max_port_share_level: text<PortShareLevel>(),
  cors_behavior: text<CorsBehavior>()
})
