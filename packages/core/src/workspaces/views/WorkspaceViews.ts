import { Array as Arr, Context, Effect } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { viewContext } from "../../agents/AgentView.js"
import type { BuildResource } from "../../agents/resources/BuildResource.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { resourceView } from "../../agents/resources/ResourceView.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements, type Licensed } from "../../deployment/licenses/Entitlements.js"
import * as Remembered from "../../platform/collections/Remembered.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { effectiveTemplate, templateFeatures } from "../../templates/settings/EffectiveTemplate.js"
import { type BuildParts, buildView, type BuildView, workspaceNames } from "../builds/BuildView.js"
import type { BuildDetails } from "../builds/WorkspaceBuildRepository.js"
import type { WorkspaceDetails } from "../WorkspaceRepository.js"
import { workspaceView, type WorkspaceView } from "./WorkspaceView.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** Jobs whose resources are read at once: statements have a limited number of parameters. */
const jobsAtOnce = 1000

/** Bytes of views that are kept, as most workspaces of a list are as they were in the one before. */
const keptViews = 2 ** 22

/** A workspace, and the user who sees it. */
export interface SeenWorkspace {
  readonly workspace: WorkspaceDetails
  readonly userId: Uuid
}

/** The methods of {@link WorkspaceViews}. */
export interface WorkspaceViewsService {
  /** Workspaces as the actor sees them. */
  readonly workspaces: (found: ReadonlyArray<WorkspaceDetails>) => Effect.Effect<ReadonlyArray<WorkspaceView>, never, CurrentActor>

  /** Workspaces as different users see them. */
  readonly seen: (found: ReadonlyArray<SeenWorkspace>) => Effect.Effect<ReadonlyArray<WorkspaceView>>

  /** Builds of one workspace. */
  readonly builds: (workspace: WorkspaceDetails, found: ReadonlyArray<BuildDetails>) => Effect.Effect<ReadonlyArray<BuildView>>

  /** A workspace as the answer to its creation shows it: one that runs already, with its agents. */
  readonly newWorkspace: (created: WorkspaceDetails) => Effect.Effect<WorkspaceView, never, CurrentActor>

  /** A build as the answer to its creation shows it. */
  readonly newBuild: (workspace: WorkspaceDetails, created: BuildDetails) => Effect.Effect<BuildView>
}

const make = Effect.gen(function* () {
  const jobs = yield* ProvisionerJobs
  const resources = yield* BuildResources

  const resourcesOf = (jobIds: ReadonlyArray<Uuid>): Effect.Effect<ReadonlyMap<string, ReadonlyArray<BuildResource>>> =>
    Effect.map(
      Effect.forEach(Arr.chunksOf(jobIds, jobsAtOnce), (some) => resources.ofJobs(some)),
      (maps) => new Map(maps.flatMap((map) => Array.from(map)))
    )

  /** Reads the parts of builds beyond their rows: at most eight statements for a thousand builds. */
  const withParts = <A>(items: ReadonlyArray<A>, buildOf: (item: A) => BuildDetails) =>
    Effect.gen(function* () {
      const queued = yield* jobs.withQueue(items.map((item) => buildOf(item).job))
      const pending = queued.filter((job) => jobStatus(job) === "pending").map(({ id }) => id)
      const matched = yield* jobs.matchedProvisioners(pending)
      const made = yield* resourcesOf(queued.map(({ id }) => id))
      return Arr.zipWith(items, queued, (item, job): readonly [A, BuildParts] => [
        item,
        { job, resources: made.get(job.id) ?? [], matched_provisioners: matched.get(job.id) }
      ])
    })

  /** A build that has just been queued: it has no place yet, and made nothing. */
  const newParts = (build: BuildDetails) =>
    Effect.map(jobs.matchedProvisioners([build.job_id]), (matched): BuildParts => ({
      job: { ...build.job, queue_position: 0, queue_size: 0 },
      resources: [],
      matched_provisioners: matched.get(build.job_id)
    }))

  const kept = Remembered.make<WorkspaceView>(keptViews)

  /** How users see workspaces at this moment. */
  const viewer = Effect.gen(function* () {
    const [agents, options] = [yield* viewContext(null), yield* DeploymentOptions]
    const licensed = yield* Entitlements
    // Asked once: what is made of other answers than those compared would be kept for these
    const enabled = templateFeatures.filter((feature) => licensed.has(feature))
    const features: Licensed = { has: (feature) => enabled.some((one) => one === feature) }
    const { allowWorkspaceRenames } = options
    return ({ userId, workspace }: SeenWorkspace, parts: BuildParts) => {
      const names = workspaceNames(workspace)
      const resources = parts.resources.map((resource) => resourceView(resource, { ...agents, names }))
      const { job, matched_provisioners } = parts
      return kept.get(
        workspace.id,
        // All that a view is made of: the job is that of the workspace, with its place in the queue
        [
          workspace,
          job.queue_position,
          job.queue_size,
          matched_provisioners,
          resources,
          workspace.owner_id === userId,
          allowWorkspaceRenames,
          enabled
        ],
        () => {
          const template = effectiveTemplate(workspace.template, features)
          return workspaceView({ ...workspace, template }, parts, { agents, options, requester: userId })
        }
      )
    }
  })

  const seen = (found: ReadonlyArray<SeenWorkspace>) =>
    Effect.gen(function* () {
      const view = yield* viewer
      return (yield* withParts(found, ({ workspace }) => workspace.latest_build)).map(([one, parts]) => view(one, parts))
    })

  return {
    workspaces: Traced.fn("WorkspaceViews.workspaces")(function* (found: ReadonlyArray<WorkspaceDetails>) {
      const { userId } = yield* CurrentActor
      return yield* seen(found.map((workspace) => ({ workspace, userId })))
    }),

    seen: Traced.fn("WorkspaceViews.seen")(seen),

    builds: Traced.fn("WorkspaceViews.builds")(function* (workspace: WorkspaceDetails, found: ReadonlyArray<BuildDetails>) {
      const context = yield* viewContext(null)
      return (yield* withParts(found, (build) => build)).map(([build, parts]) => buildView(workspace, build, parts, context))
    }),

    newWorkspace: Traced.fn("WorkspaceViews.newWorkspace")(function* (created: WorkspaceDetails) {
      const latest_build = { ...created.latest_build, template_version_name: "" }
      const [view, { userId }] = [yield* viewer, yield* CurrentActor]
      if (jobStatus(latest_build.job) !== "pending") {
        const resources = (yield* resourcesOf([latest_build.job_id])).get(latest_build.job_id) ?? []
        const job = { ...latest_build.job, queue_position: 0, queue_size: 0 }
        return view({ workspace: { ...created, latest_build }, userId }, { job, resources, matched_provisioners: undefined })
      }
      return view({ workspace: { ...created, latest_build }, userId }, yield* newParts(latest_build))
    }),

    newBuild: Traced.fn("WorkspaceViews.newBuild")(function* (workspace: WorkspaceDetails, created: BuildDetails) {
      return buildView(workspace, { ...created, template_version_name: "" }, yield* newParts(created), yield* viewContext(null))
    })
  }
})

/** Builds the views of workspaces and builds, with a number of statements independent of their number. */
export class WorkspaceViews extends Context.Tag("@atelier/core/WorkspaceViews")<WorkspaceViews, WorkspaceViewsService>() {
  static readonly layer = standingOn(service(WorkspaceViews, make), ProvisionerJobs.layer, BuildResources.layer)
}
