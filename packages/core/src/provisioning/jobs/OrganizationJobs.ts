import { Array as Arr, Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { Organization } from "../../organizations/Organization.js"
import { Organizations } from "../../organizations/Organizations.js"
import { NotFound } from "../../platform/Errors.js"
import { nil } from "../../platform/texts/Uuid.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import { type JobView, listedJobView } from "./JobView.js"
import { ProvisionerDaemonRepository } from "../daemons/ProvisionerDaemonRepository.js"
import { type JobMetadata, jobStatus, type ProvisionerJob, type ProvisionerJobId } from "./ProvisionerJob.js"
import { type JobFilter, ProvisionerJobRepository } from "./ProvisionerJobRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

const missing = new NotFound({ resource: "provisioner_job" })

const noMetadata: JobMetadata = {
  template_version_name: "",
  template_id: nil,
  template_name: "",
  template_display_name: "",
  template_icon: "",
  workspace_id: null,
  workspace_name: null,
  workspace_build_transition: null
}

/** Returns the organization if the actor may read its jobs. Fails with `NotFound` otherwise. templates-and-provisioning.md §6.10. */
const readable = (organization: Organization) =>
  Effect.as(Access.authorizeOrHide("read", AccessObjects.inOrganization("provisioner_jobs", organization.id)), organization)

/** The methods of {@link OrganizationJobs}. */
export interface OrganizationJobsService {
  /** The jobs of an organization that a filter leaves, newest first. Fails with `NotFound` for actors who may not read its jobs. */
  readonly list: (
    organization: string,
    filter: Omit<JobFilter, "organization_id">
  ) => Effect.Effect<ReadonlyArray<JobView>, NotFound, CurrentActor>

  /** One job of an organization. Fails with `NotFound` for actors who may not read its jobs. */
  readonly get: (organization: string, id: ProvisionerJobId) => Effect.Effect<JobView, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerJobRepository
  const queue = yield* JobQueueRepository
  const daemons = yield* ProvisionerDaemonRepository
  const organizations = yield* Organizations

  /** Jobs with all fields of lists. Five statements, for any number of jobs. */
  const described = (jobs: ReadonlyArray<ProvisionerJob>): Effect.Effect<ReadonlyArray<JobView>> =>
    Effect.gen(function* () {
      if (jobs.length === 0) return []
      const waiting = jobs.filter((job) => jobStatus(job) === "pending").map(({ id }) => id)
      const workerIds = [...new Set(jobs.flatMap(({ worker_id }) => worker_id ?? []))]
      const { places: found, size } = yield* queue.deploymentQueue(waiting)
      const available = waiting.length === 0 ? [] : yield* queue.availableWorkers(waiting)
      const names = workerIds.length === 0 ? [] : yield* daemons.names(workerIds)
      const metadata = yield* repository.metadataOf(jobs.map(({ id }) => id))

      const places = new Map(found.map((place) => [place.id, place.queue_position]))
      const nameOf = new Map(names.map(({ id, name }) => [id, name]))
      const workersOf = Arr.groupBy(available, ({ job_id }) => job_id)
      const metadataOf = new Map(metadata.map(({ id, ...names }) => [id, names]))
      return jobs.map((job) =>
        listedJobView({
          ...job,
          queue_position: places.get(job.id) ?? 0,
          queue_size: size,
          available_workers: (workersOf[job.id] ?? []).map(({ daemon_id }) => daemon_id),
          worker_name: job.worker_id === null ? "" : (nameOf.get(job.worker_id) ?? ""),
          metadata: metadataOf.get(job.id) ?? noMetadata
        })
      )
    })

  return {
    list: Traced.fn("OrganizationJobs.list")(function* (organization: string, filter: Omit<JobFilter, "organization_id">) {
      const { id } = yield* readable(yield* organizations.get(organization))
      return yield* described(yield* repository.list({ ...filter, organization_id: id }))
    }),

    get: Traced.fn("OrganizationJobs.get")(function* (organization: string, id: ProvisionerJobId) {
      const { id: organizationId } = yield* readable(yield* organizations.get(organization))
      const job = Option.getOrUndefined(yield* repository.byId(id))
      if (job === undefined || job.organization_id !== organizationId) return yield* missing
      const [listed] = yield* described([job])
      return listed === undefined ? yield* missing : listed
    })
  }
})

/** The jobs of an organization, for those who look after its provisioners. templates-and-provisioning.md §6.10. */
export class OrganizationJobs extends Context.Tag("@atelier/core/OrganizationJobs")<OrganizationJobs, OrganizationJobsService>() {
  static readonly layer = standingOn(service(OrganizationJobs, make), Organizations.layer)
}
