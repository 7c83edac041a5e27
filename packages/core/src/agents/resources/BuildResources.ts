import { Context, Effect } from "effect"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Invalid } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import type { ProvisionedAgent, ProvisionedResource } from "../../provisioning/engines/ProvisionedResource.js"
import { AgentTokens, externalAgentType } from "../credentials/AgentTokens.js"
import { assembleResources, type BuildResource } from "./BuildResource.js"
import { BuildResourceRepository, type HandedOverAgent, type NewAgent, type NewResources } from "./BuildResourceRepository.js"
import { resourcesViolation } from "./ResourceRules.js"
import type { WorkspaceResource } from "./WorkspaceResource.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { KeptResource } from "./HandedOver.js"
import { newAgents } from "./NewAgents.js"

/** The job that made resources, and what it did. A template import is a `start` and a `stop` of nothing: each is inserted by itself. */
export interface MakingJob {
  readonly job_id: Uuid
  readonly transition: BuildTransition
}

/** The parts of a stored agent that callers of `insert` use. */
export interface InsertedAgent {
  readonly id: Uuid
  readonly name: string
  readonly connection_timeout_seconds: number
  readonly apps: ReadonlyArray<{ readonly id: Uuid; readonly slug: string }>
}

/** The methods of {@link BuildResources}. */
export interface BuildResourcesService {
  /**
   * Stores what a job made, in the caller's transaction; agents of a stop or delete are left out. Fails with `Invalid`, which fails
   * the job, when a name or slug breaks its rule or an app's id belongs to another workspace. templates-and-provisioning.md §10.2.
   */
  readonly insert: (
    job: MakingJob,
    provisioned: ReadonlyArray<ProvisionedResource>
  ) => Effect.Effect<ReadonlyArray<InsertedAgent>, Invalid, EventBus | Transactor>

  /** Stores an agent that one of a build has made, in the caller's transaction. Its token is given out to its parent. agents-and-apps.md §14, "Sub agents". */
  readonly insertSubAgent: (
    parent: { readonly id: Uuid; readonly resource_id: Uuid; readonly job_id: Uuid },
    provisioned: ProvisionedAgent
  ) => Effect.Effect<Uuid>

  /** Stores what a job made of a workspace that runs on, in the caller's transaction. The agents keep their ids, and their earlier tokens end. */
  readonly handOver: (job: MakingJob, kept: ReadonlyArray<KeptResource>) => Effect.Effect<void>

  /** The resources of each of these jobs that has any, with everything in them but deleted agents: one statement. */
  readonly ofJobs: (jobIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<BuildResource>>>

  /** Deletes the agents of all builds of a workspace but one: their tokens stop working. Call it when that build completes. §1. */
  readonly retireAgents: (builds: { readonly workspaceId: Uuid; readonly exceptBuildJob: Uuid }) => Effect.Effect<void>

  /** Deletes all agents of a workspace: it has been deleted. */
  readonly retireAllAgents: (workspaceId: Uuid) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const repository = yield* BuildResourceRepository
  const ids = yield* Ids
  const cryptography = yield* Cryptography
  const tokens = yield* AgentTokens

  const { agentOf, withContainers } = newAgents({ ids, cryptography, tokens })

  const rowOf = (job: MakingJob, resource: ProvisionedResource, now: Timestamp.Timestamp): Effect.Effect<WorkspaceResource> =>
    Effect.map(ids.next, (id) => ({
      id,
      created_at: now,
      job_id: job.job_id,
      transition: job.transition,
      type: resource.type,
      name: resource.name,
      hide: resource.hide,
      icon: resource.icon,
      instance_type: resource.instance_type,
      daily_cost: resource.daily_cost,
      module_path: resource.module_path,
      metadata: resource.metadata
    }))

  return {
    handOver: Traced.fn("BuildResources.handOver")(function* (job: MakingJob, kept: ReadonlyArray<KeptResource>) {
      const now = yield* Timestamp.now
      const resources: Array<WorkspaceResource> = []
      const agents: Array<HandedOverAgent> = []
      for (const { agents: keptAgents, provisioned } of kept) {
        const row = yield* rowOf(job, provisioned, now)
        resources.push(row)
        for (const { provisioned: agent, scripts, stored } of keptAgents) {
          const place = { isGivenOut: false, parentId: null, resourceId: row.id }
          const made = yield* agentOf(agent, place, now)
          agents.push({
            row: { ...made.row, id: stored.id },
            hashed_token: made.hashed_token,
            apps: made.apps.map((app) => ({ ...app, agent_id: stored.id })),
            metadata: made.metadata,
            scripts
          })
        }
      }
      // The apps are those of the workspace's own agents
      yield* Effect.orDie(repository.handOver({ job_id: job.job_id, created_at: now, resources, agents }))
    }),

    insert: Traced.fn("BuildResources.insert")(function* (job: MakingJob, provisioned: ReadonlyArray<ProvisionedResource>) {
      const violation = resourcesViolation(provisioned)
      if (violation !== undefined) return yield* violation
      const now = yield* Timestamp.now
      const resources: Array<WorkspaceResource> = []
      const agents: Array<NewAgent> = []
      for (const resource of provisioned) {
        const row = yield* rowOf(job, resource, now)
        resources.push(row)
        if (job.transition !== "start") continue
        for (const agent of resource.agents) {
          const isGivenOut = resource.type === externalAgentType || agent.auth._tag === "InstanceIdentity"
          const made = yield* agentOf(agent, { isGivenOut, parentId: null, resourceId: row.id }, now)
          agents.push(...(yield* withContainers(agent, made, now)))
        }
      }
      const rows: NewResources = { job_id: job.job_id, created_at: now, resources, agents }
      yield* transaction(
        Effect.catchTag(repository.insert(rows), "ForeignApp", ({ id }) =>
          Effect.fail(new Invalid({ message: `The app id ${id} belongs to another workspace` }))
        )
      )
      return agents.map(({ apps, row }): InsertedAgent => ({
        id: row.id,
        name: row.name,
        connection_timeout_seconds: row.connection_timeout_seconds,
        apps: apps.map((app) => ({ id: app.id, slug: app.slug }))
      }))
    }),

    insertSubAgent: Traced.fn("BuildResources.insertSubAgent")(function* (
      parent: { readonly id: Uuid; readonly resource_id: Uuid; readonly job_id: Uuid },
      provisioned: ProvisionedAgent
    ) {
      const now = yield* Timestamp.now
      const agent = yield* agentOf(provisioned, { isGivenOut: true, parentId: parent.id, resourceId: parent.resource_id }, now)
      // Its apps have new ids
      yield* Effect.orDie(repository.insert({ job_id: parent.job_id, created_at: now, resources: [], agents: [agent] }))
      return agent.row.id
    }),

    ofJobs: Traced.fn("BuildResources.ofJobs")(function* (jobIds: ReadonlyArray<Uuid>) {
      if (jobIds.length === 0) return new Map<string, ReadonlyArray<BuildResource>>()
      return assembleResources(yield* repository.ofJobs(jobIds))
    }),

    retireAgents: (builds: { readonly workspaceId: Uuid; readonly exceptBuildJob: Uuid }): Effect.Effect<void> =>
      repository.deleteAgents(builds.workspaceId, builds.exceptBuildJob),

    retireAllAgents: (workspaceId: Uuid): Effect.Effect<void> => repository.deleteAgents(workspaceId, null)
  }
})

/** The resources of jobs: written when a job succeeds, read wherever builds and template versions are shown. */
export class BuildResources extends Context.Tag("@atelier/core/BuildResources")<BuildResources, BuildResourcesService>() {
  static readonly layer = standingOn(service(BuildResources, make), AgentTokens.layer)
}
