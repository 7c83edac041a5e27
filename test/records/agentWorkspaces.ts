/** Workspaces with builds whose agents have been stored, without a provisioner. */
import { SqlClient } from "@effect/sql"
import { BuildResources, type InsertedAgent } from "@atelier/core/agents"
import { type User, UserRepository } from "@atelier/core/identity"
import { type Organization, OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import type { BuildTransition, JobProgress, JobStatus, ProvisionedResource } from "@atelier/core/provisioning"
import type { Template } from "@atelier/core/templates"
import { type Workspace, type WorkspaceBuild, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { Effect, Option } from "effect"
import { aUser, anOrganization } from "./builders.js"
import { aResource } from "./resources.js"
import { storedBuild, storedTemplate, storedWorkspace } from "./workspaces.js"

type BuildJobStatus = Exclude<JobStatus, "unknown">

/** A job's progress in each status. */
const progress = (status: BuildJobStatus, now: Timestamp.Timestamp): JobProgress => {
  const ends = status === "canceled" || status === "succeeded" || status === "failed"
  return {
    started_at: status === "pending" ? null : now,
    completed_at: ends ? now : null,
    canceled_at: status === "canceling" || status === "canceled" ? now : null,
    error: status === "failed" ? "it failed" : ""
  }
}

export interface StoredWorkspace {
  readonly owner: User
  readonly organization: Organization
  readonly template: Template
  readonly workspace: Workspace
}

export interface StoredBuild {
  readonly build: WorkspaceBuild
  readonly agents: ReadonlyArray<InsertedAgent>
}

/** A workspace with a first build that made nothing; its owner and organization too, unless they are given and stored already. */
export const aWorkspace = (
  given: {
    readonly owner?: User
    readonly organization?: Organization
    readonly workspace?: Partial<Workspace>
    readonly template?: Partial<Template>
  } = {}
) =>
  Effect.gen(function* () {
    const organizations = yield* OrganizationRepository
    const organization = given.organization ?? (yield* Effect.tap(anOrganization(), organizations.insert))
    const owner = given.owner ?? (yield* aUser())
    if (given.owner === undefined) yield* (yield* UserRepository).insert(owner, null)
    yield* organizations.addMember({ organization_id: organization.id, user_id: owner.id, roles: [], created_at: yield* Timestamp.now })
    const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.id, ...given.template })
    const { workspace } = yield* storedWorkspace(template, owner.id, { workspace: given.workspace ?? {} })
    const stored: StoredWorkspace = { owner, organization, template, workspace }
    return stored
  })

/** The next build of a workspace with its job in a status; one that has succeeded has made the resources. */
export const aBuild = (
  { template, workspace }: StoredWorkspace,
  options: {
    readonly transition?: BuildTransition
    readonly status?: BuildJobStatus
    readonly resources?: ReadonlyArray<ProvisionedResource>
    readonly build?: Partial<WorkspaceBuild>
  } = {}
) =>
  Effect.gen(function* () {
    const latest = yield* (yield* WorkspaceBuildRepository).latest(workspace.id)
    const { resources = [aResource()], status = "succeeded", transition = "start" } = options
    const build = yield* storedBuild(
      workspace,
      {
        template_version_id: template.active_version_id,
        build_number: Option.match(latest, { onNone: () => 1, onSome: ({ build_number }) => build_number + 1 }),
        transition,
        ...options.build
      },
      progress(status, yield* Timestamp.now)
    )
    const inserting = Effect.flatMap(BuildResources, ({ insert }) => insert({ job_id: build.job_id, transition }, resources))
    const stored: StoredBuild = { build, agents: status === "succeeded" ? yield* inserting : [] }
    return stored
  })

/** Moves a build's job to another status. */
export const moveBuild = ({ build }: StoredBuild, status: BuildJobStatus) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE provisioner_jobs SET ${sql.update(progress(status, yield* Timestamp.now))} WHERE id = ${build.job_id}`
  })
