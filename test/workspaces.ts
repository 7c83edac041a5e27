/** Workspaces with their builds and agents, stored as the services would, without a provisioner. */
import { SqlClient } from "@effect/sql"
import { type InsertedAgent, BuildResources } from "@atelier/core/agents"
import { type User, UserRepository } from "@atelier/core/identity"
import { type Organization, OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import {
  type JobProgress,
  jobStatus,
  type ProvisionedResource,
  type ProvisionerJob,
  ProvisionerJobRepository,
  untagged
} from "@atelier/core/provisioning"
import { noBuildTimeStats, type Template, TemplateRepository, TemplateVersionRepository } from "@atelier/core/templates"
import {
  type BuildTransition,
  type Workspace,
  type WorkspaceBuild,
  WorkspaceBuildRepository,
  WorkspaceRepository
} from "@atelier/core/workspaces"
import { Effect, Option } from "effect"
import { aUser, anOrganization } from "./builders.js"
import { aResource } from "./resources.js"

/** A template that restricts nothing, whose active version is yet to be stored. */
export const aTemplate = (fields: Pick<Template, "organization_id" | "created_by"> & Partial<Template>) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const id = fields.id ?? (yield* ids.next)
    const template: Template = {
      id,
      created_at: now,
      updated_at: now,
      deleted: false,
      name: `template-${id.slice(-12)}`,
      display_name: "",
      description: "",
      icon: "",
      provisioner: "terraform",
      active_version_id: yield* ids.next,
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
      group_acl: {},
      active_user_count: 0,
      build_time_stats: noBuildTimeStats,
      ...fields
    }
    return template
  })

/** A job's progress in each status. */
const progress = (
  status: "pending" | "running" | "canceling" | "canceled" | "succeeded" | "failed",
  now: Timestamp.Timestamp
): JobProgress => {
  const ends = status === "canceled" || status === "succeeded" || status === "failed"
  return {
    started_at: status === "pending" ? null : now,
    completed_at: ends ? now : null,
    canceled_at: status === "canceling" || status === "canceled" ? now : null,
    error: status === "failed" ? "it failed" : ""
  }
}

export type BuildJobStatus = Parameters<typeof progress>[0]

export interface StoredWorkspace {
  readonly owner: User
  readonly organization: Organization
  /** Its active version is the only one, without an import. */
  readonly template: Template
  readonly workspace: Workspace
}

export interface StoredBuild {
  readonly build: WorkspaceBuild
  readonly job: ProvisionerJob
  readonly agents: ReadonlyArray<InsertedAgent>
}

/** Stores a workspace without builds; its owner and organization too, unless they are given and stored already. */
export const aWorkspace = (
  given: {
    readonly owner?: User
    readonly organization?: Organization
    readonly fields?: Partial<Workspace>
    readonly template?: Partial<Template>
  } = {}
) =>
  Effect.gen(function* () {
    const organizations = yield* OrganizationRepository
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const organization = given.organization ?? (yield* Effect.tap(anOrganization(), organizations.insert))
    const owner = given.owner ?? (yield* aUser())
    if (given.owner === undefined) yield* (yield* UserRepository).insert(owner, null)
    yield* organizations.addMember({ organization_id: organization.id, user_id: owner.id, roles: [], created_at: now })
    const template = yield* aTemplate({ organization_id: organization.id, created_by: owner.id, ...given.template })
    yield* (yield* TemplateRepository).insert(template)
    yield* (yield* TemplateVersionRepository).insert({
      id: template.active_version_id,
      created_at: now,
      updated_at: now,
      organization_id: organization.id,
      template_id: template.id,
      name: "first",
      message: "",
      readme: "",
      job_id: yield* ids.next,
      created_by: owner.id,
      archived: false,
      source_example_id: null,
      has_ai_task: false,
      has_external_agent: false,
      workspace_tags: {}
    })
    const id = yield* ids.next
    const workspace: Workspace = {
      id,
      created_at: now,
      updated_at: now,
      owner_id: owner.id,
      organization_id: organization.id,
      template_id: template.id,
      deleted: false,
      name: `workspace-${id.slice(-12)}`,
      autostart_schedule: null,
      ttl_ms: null,
      last_used_at: now,
      dormant_at: null,
      deleting_at: null,
      automatic_updates: "never",
      favorite: false,
      next_start_at: null,
      user_acl: {},
      group_acl: {},
      task_id: null,
      ...given.fields
    }
    yield* (yield* WorkspaceRepository).insert(workspace)
    const stored: StoredWorkspace = { owner, organization, template, workspace }
    return stored
  })

/** Stores the next build of a workspace with a job in a status; one that has succeeded has made the resources. */
export const aBuild = (
  { template, workspace }: StoredWorkspace,
  options: {
    readonly transition?: BuildTransition
    readonly status?: BuildJobStatus
    readonly resources?: ReadonlyArray<ProvisionedResource>
    readonly deadline?: Timestamp.Timestamp
  } = {}
) =>
  Effect.gen(function* () {
    const builds = yield* WorkspaceBuildRepository
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const transition = options.transition ?? "start"
    const latest = yield* builds.latest(workspace.id)
    const buildId = yield* ids.next
    const job: ProvisionerJob = {
      id: yield* ids.next,
      created_at: now,
      updated_at: now,
      ...progress(options.status ?? "succeeded", now),
      error_code: "",
      organization_id: workspace.organization_id,
      initiator_id: workspace.owner_id,
      provisioner: "terraform",
      type: "workspace_build",
      file_id: Uuid.nil,
      input: { workspace_build_id: buildId },
      tags: untagged,
      worker_id: null,
      logs_length: 0,
      logs_overflowed: false
    }
    yield* (yield* ProvisionerJobRepository).insert(job)
    const build: WorkspaceBuild = {
      id: buildId,
      created_at: now,
      updated_at: now,
      workspace_id: workspace.id,
      template_version_id: template.active_version_id,
      build_number: Option.match(latest, { onNone: () => 1, onSome: ({ build_number }) => build_number + 1 }),
      transition,
      initiator_id: workspace.owner_id,
      job_id: job.id,
      deadline: options.deadline ?? null,
      max_deadline: null,
      reason: "initiator",
      daily_cost: 0,
      template_version_preset_id: null,
      has_ai_task: null,
      has_external_agent: null,
      initiator_ip: "127.0.0.1"
    }
    yield* builds.insert(build, { parameters: [], state: new Uint8Array() })
    const resources = options.resources ?? [aResource()]
    const agents = jobStatus(job) === "succeeded" ? yield* (yield* BuildResources).insert({ job_id: job.id, transition }, resources) : []
    const stored: StoredBuild = { build, job, agents }
    return stored
  })

/** Moves a build's job to another status. */
export const moveBuild = ({ job }: StoredBuild, status: BuildJobStatus) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE provisioner_jobs SET ${sql.update(progress(status, yield* Timestamp.now))} WHERE id = ${job.id}`
  })
