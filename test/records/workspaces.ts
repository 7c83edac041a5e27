/** Templates that workspaces can be made from, and workspaces with builds in every state, for tests. */
import {
  noBuildTimeStats,
  type Template,
  TemplateRepository,
  type TemplateVersion,
  TemplateVersionRepository
} from "@atelier/core/templates"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { type ProvisionerJob, ProvisionerJobRepository, untagged } from "@atelier/core/provisioning"
import { noDeadlines, type Workspace, type WorkspaceBuild, WorkspaceBuildRepository, WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"

/** A job that has succeeded. */
export const aJob = (fields: Partial<ProvisionerJob> & Pick<ProvisionerJob, "organization_id" | "initiator_id">) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const job: ProvisionerJob = {
      id: yield* ids.next,
      created_at: now,
      updated_at: now,
      started_at: now,
      canceled_at: null,
      completed_at: now,
      error: "",
      error_code: "",
      provisioner: "echo",
      type: "workspace_build",
      file_id: Uuid.nil,
      input: {},
      tags: untagged,
      worker_id: null,
      logs_length: 0,
      logs_overflowed: false,
      ...fields
    }
    return job
  })

/** A stored version whose import has succeeded. */
export const storedVersion = (
  fields: Partial<TemplateVersion> & Pick<TemplateVersion, "organization_id" | "created_by">,
  importFields: Partial<ProvisionerJob> = {}
) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const id = fields.id ?? (yield* ids.next)
    const { created_by: initiator_id, organization_id } = fields
    const job = yield* aJob({ organization_id, initiator_id, type: "template_version_import", ...importFields })
    const version: TemplateVersion = {
      id,
      created_at: now,
      updated_at: now,
      template_id: null,
      name: `version-${id.slice(-12)}`,
      message: "",
      readme: "",
      job_id: job.id,
      archived: false,
      source_example_id: null,
      has_ai_task: false,
      has_external_agent: false,
      engine: null,
      workspace_tags: {},
      ...fields
    }
    yield* (yield* ProvisionerJobRepository).insert([job])
    yield* (yield* TemplateVersionRepository).insert(version)
    return version
  })

/** A stored template that every member of the organization may use, with an imported active version. */
export const storedTemplate = (
  fields: Partial<Template> & Pick<Template, "organization_id" | "created_by">,
  version: Partial<TemplateVersion> = {}
) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const id = fields.id ?? (yield* ids.next)
    const { created_by, organization_id } = fields
    const active_version_id = version.id ?? (yield* ids.next)
    const template: Template = {
      id,
      created_at: now,
      updated_at: now,
      deleted: false,
      name: `template-${id.slice(-12)}`,
      display_name: "",
      description: "",
      icon: "",
      provisioner: "echo",
      active_version_id,
      default_ttl_ms: 0,
      activity_bump_ms: 3_600_000,
      time_til_autostop_notify_ms: 0,
      autostop_requirement_days_of_week: 0,
      autostop_requirement_weeks: 1,
      autostart_block_days_of_week: 0,
      allow_user_autostart: true,
      allow_user_autostop: true,
      allow_user_cancel_workspace_jobs: true,
      failure_ttl_ms: 0,
      time_til_dormant_ms: 0,
      time_til_dormant_autodelete_ms: 0,
      require_active_version: false,
      deprecated: "",
      max_port_share_level: "public",
      cors_behavior: "simple",
      use_classic_parameter_flow: false,
      disable_module_cache: false,
      agents_allowed: false,
      user_acl: {},
      group_acl: { [organization_id]: ["read", "use"] },
      active_user_count: 0,
      build_time_stats: noBuildTimeStats,
      ...fields
    }
    yield* (yield* TemplateRepository).insert(template)
    yield* storedVersion({ organization_id, created_by, ...version, id: active_version_id, template_id: id })
    return template
  })

/** What a stored workspace is made of; the build is a start that has succeeded. */
export interface WorkspaceParts {
  readonly workspace?: Partial<Workspace>
  readonly build?: Partial<WorkspaceBuild>
  readonly job?: Partial<ProvisionerJob>
}

/** A stored workspace of a template, with one build. */
export const storedWorkspace = (
  template: Pick<Template, "id" | "organization_id" | "active_version_id">,
  ownerId: Uuid.Uuid,
  parts: WorkspaceParts = {}
) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const id = parts.workspace?.id ?? (yield* ids.next)
    const { organization_id } = template
    const workspace: Workspace = {
      id,
      created_at: now,
      updated_at: now,
      owner_id: ownerId,
      organization_id,
      template_id: template.id,
      deleted: false,
      name: `workspace-${id.slice(-12)}`,
      autostart_schedule: null,
      ttl_ms: null,
      expires_at: null,
      last_used_at: now,
      dormant_at: null,
      deleting_at: null,
      automatic_updates: "never",
      favorite: false,
      next_start_at: null,
      user_acl: {},
      group_acl: {},
      task_id: null,
      ...parts.workspace
    }
    yield* (yield* WorkspaceRepository).insert(workspace)
    const build = yield* storedBuild(workspace, { template_version_id: template.active_version_id, ...parts.build }, parts.job)
    return { workspace, build }
  })

/** A further build of a workspace; a start that has succeeded. */
export const storedBuild = (
  workspace: Pick<Workspace, "id" | "organization_id" | "owner_id">,
  build: Partial<WorkspaceBuild> & Pick<WorkspaceBuild, "template_version_id">,
  jobFields: Partial<ProvisionerJob> = {}
) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const id = build.id ?? (yield* ids.next)
    const { organization_id, owner_id: initiator_id } = workspace
    const job = yield* aJob({ organization_id, initiator_id, input: { workspace_build_id: id }, ...jobFields })
    const stored: WorkspaceBuild = {
      id,
      created_at: now,
      updated_at: now,
      workspace_id: workspace.id,
      build_number: 1,
      transition: "start",
      initiator_id,
      job_id: job.id,
      ...noDeadlines,
      reason: "initiator",
      daily_cost: 0,
      template_version_preset_id: null,
      has_ai_task: null,
      has_external_agent: null,
      initiator_ip: "",
      ...build
    }
    yield* (yield* ProvisionerJobRepository).insert([job])
    yield* (yield* WorkspaceBuildRepository).insert([{ build: stored, parameters: [], state: null }])
    return stored
  })
