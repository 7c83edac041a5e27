import { Context, Effect, type Stream } from "effect"
import * as Access from "../../access/Access.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Entitled, rightTo } from "../../access/streams/StreamRights.js"
import { viewContext } from "../../agents/AgentView.js"
import type { BuildResource } from "../../agents/resources/BuildResource.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { resourceViews, type ResourceView } from "../../agents/resources/ResourceView.js"
import { Forbidden, Invalid, NotReady, type NotFound } from "../../platform/Errors.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { JobLog } from "../../provisioning/logs/JobLog.js"
import { jobView, type JobView } from "../../provisioning/jobs/JobView.js"
import { jobStatus, type MatchedProvisioners, type ProvisionerJobId } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { TemplateVersionId } from "../versions/TemplateVersion.js"
import { missingVersion, visibleVersions } from "../versions/VisibleVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** The workspace that a dry run plans. */
export interface NewDryRun {
  readonly workspace_name: string
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
}

const noProvisioners: MatchedProvisioners = { count: 0, available: 0, most_recently_seen: null }

/** The methods of {@link DryRuns}. */
export interface DryRunsService {
  /**
   * Queues a job that plans a workspace of the version, which is not made. Fails with `NotFound` for actors who may not create workspaces
   * of their own, and with `NotReady` until the import has ended.
   */
  readonly create: (
    versionId: TemplateVersionId,
    request: NewDryRun
  ) => Effect.Effect<JobView, NotFound | NotReady, CurrentActor | EventBus | Transactor>

  /**
   * The job of a dry run. This and the other methods fail with `NotFound` for an unknown job, and with `Forbidden` for one that is not a
   * dry run of the version, or whose initiator's workspaces the actor may not read.
   */
  readonly get: (versionId: TemplateVersionId, jobId: ProvisionerJobId) => Effect.Effect<JobView, Forbidden | NotFound, CurrentActor>

  /** The resources that a start would make, by name. Fails with `Invalid` until the job has ended. */
  readonly resources: (
    versionId: TemplateVersionId,
    jobId: ProvisionerJobId
  ) => Effect.Effect<ReadonlyArray<ResourceView>, Invalid | Forbidden | NotFound, CurrentActor>

  /** How many daemons could take the job. */
  readonly matchedProvisioners: (
    versionId: TemplateVersionId,
    jobId: ProvisionerJobId
  ) => Effect.Effect<MatchedProvisioners, Forbidden | NotFound, CurrentActor>

  /** The rows of the job's log with ids larger than `after`. */
  readonly logs: (
    versionId: TemplateVersionId,
    jobId: ProvisionerJobId,
    after: number
  ) => Effect.Effect<Stream.Stream<JobLog>, Forbidden | NotFound, CurrentActor>

  /** As `logs`, and then those that are written until the job ends. */
  readonly followLogs: (
    versionId: TemplateVersionId,
    jobId: ProvisionerJobId,
    after: number
  ) => Effect.Effect<Entitled<JobLog>, Forbidden | NotFound, CurrentActor>

  /**
   * Cancels the job. Fails with `NotFound` if the actor may not change workspaces of the initiator, and with `Invalid` if the job has
   * ended or is canceled already.
   */
  readonly cancel: (
    versionId: TemplateVersionId,
    jobId: ProvisionerJobId
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const jobs = yield* ProvisionerJobs
  const resources = yield* BuildResources
  const { load } = yield* visibleVersions

  /** A dry run of the version, with the object that permissions on it are checked on: a workspace of its initiator. */
  const find = (versionId: TemplateVersionId, jobId: ProvisionerJobId) =>
    Effect.gen(function* () {
      const version = yield* load(versionId)
      const job = yield* jobs.get(jobId)
      if (job.type !== "template_version_dry_run" || job.input.template_version_id !== version.id) return yield* new Forbidden()
      const object = AccessObjects.ownedIn("workspace", version.organization_id, job.initiator_id)
      yield* Access.authorize("read", object)
      return { job, object }
    })

  return {
    create: Traced.fn("DryRuns.create")(function* (versionId: TemplateVersionId, request: NewDryRun) {
      const { id, job_id, organization_id } = yield* load(versionId)
      const { userId } = yield* CurrentActor
      yield* Access.authorizeOrHide("create", AccessObjects.ownedIn("workspace", organization_id, userId), missingVersion)
      const source = yield* Effect.orDie(jobs.get(job_id))
      if (source.completed_at === null) {
        return yield* new NotReady({
          message: "Template version import job hasn't completed!",
          detail: `Its status is ${jobStatus(source)}.`
        })
      }
      const job = yield* transaction(
        jobs.insert({
          organization_id,
          initiator_id: userId,
          provisioner: source.provisioner,
          type: "template_version_dry_run",
          file_id: source.file_id,
          input: {
            template_version_id: id,
            workspace_name: request.workspace_name,
            rich_parameter_values: request.rich_parameter_values
          },
          tags: source.tags
        })
      )
      // The queue position is not known yet
      return jobView({ ...job, queue_position: 0, queue_size: 0 })
    }),

    get: Traced.fn("DryRuns.get")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId) {
      return jobView((yield* find(versionId, jobId)).job)
    }),

    resources: Traced.fn("DryRuns.resources")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId) {
      const { job } = yield* find(versionId, jobId)
      if (job.completed_at === null) {
        return yield* new Invalid({ message: "Job hasn't completed!", detail: `Its status is ${jobStatus(job)}.` })
      }
      const made: ReadonlyArray<BuildResource> = (yield* resources.ofJobs([job.id])).get(job.id) ?? []
      return resourceViews(made, yield* viewContext(null))
    }),

    matchedProvisioners: Traced.fn("DryRuns.matchedProvisioners")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId) {
      const { job } = yield* find(versionId, jobId)
      return (yield* jobs.matchedProvisioners([job.id])).get(job.id) ?? noProvisioners
    }),

    logs: Traced.fn("DryRuns.logs")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId, after: number) {
      const { job } = yield* find(versionId, jobId)
      const logs: Stream.Stream<JobLog> = jobs.logs(job.id, after)
      return logs
    }),

    followLogs: Traced.fn("DryRuns.followLogs")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId, after: number) {
      const [right, { job }] = yield* rightTo(`dry_run:${versionId}:${jobId}`, () => find(versionId, jobId))
      return { right, values: jobs.follow(job.id, after) } satisfies Entitled<JobLog>
    }),

    cancel: Traced.fn("DryRuns.cancel")(function* (versionId: TemplateVersionId, jobId: ProvisionerJobId) {
      const { job, object } = yield* find(versionId, jobId)
      yield* Access.authorizeOrHide("update", object, missingVersion)
      // No status is expected, so none is missed
      yield* Effect.catchTag(jobs.cancel(job.id), "ExpectationMismatch", Effect.die)
    })
  }
})

/** Jobs that plan a workspace of a version without making it. templates-and-provisioning.md §3.6. */
export class DryRuns extends Context.Tag("@atelier/core/DryRuns")<DryRuns, DryRunsService>() {
  static readonly layer = standingOn(service(DryRuns, make), ProvisionerJobs.layer, BuildResources.layer)
}
