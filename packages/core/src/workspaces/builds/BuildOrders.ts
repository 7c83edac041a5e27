import { Array as Arr, Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, CurrentActor } from "../../access/actors/Actor.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import type { UserWithOrganizations } from "../../identity/users/User.js"
import { Conflict, Forbidden, Invalid, type TimedOut, Unacceptable } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import type { TaskPrompt } from "../../provisioning/engines/ProvisionerEngine.js"
import { isActive, type JobStatus, jobStatus, type NewJob, type ProvisionerJob } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { normalizeTags, overlayTags, type ProvisionerTags, tagsViolation } from "../../provisioning/queue/ProvisionerTags.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { TemplateSources } from "../../provisioning/engines/TemplateSources.js"
import { ParameterForms } from "../../templates/parameters/ParameterForms.js"
import { matchingPreset, resolveParameters } from "../../templates/parameters/Parameters.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { AuthoredVersion } from "../../templates/versions/TemplateVersion.js"
import type { TemplateVersionPreset } from "../../templates/versions/TemplateVersionDefinitions.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildInputs } from "./BuildInputs.js"
import { type BuildReads, buildReads } from "./BuildReads.js"
import { BuildStates } from "./BuildStates.js"
import { type Deadlines, noDeadlines } from "../schedule/Deadline.js"
import type { Workspace } from "../Workspace.js"
import type { BuildReason } from "../../provisioning/jobs/BuildReason.js"
import type { WorkspaceBuild, WorkspaceBuildId } from "./WorkspaceBuild.js"
import { type BuildDetails, type StoredBuild, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { buildDefinitions } from "./BuildDefinitions.js"

/** The workspace to build, its template, its owner and its previous build. */
export interface BuildTarget {
  readonly workspace: Workspace
  /** As it is in force. */
  readonly template: TemplateWithNames
  readonly owner: UserWithOrganizations
  /** The task to store with the workspace; absent without a task, or if both are stored. */
  readonly task?: TaskPrompt | undefined
  /** Null at the first build. */
  readonly previous: BuildDetails | null
}

/** The kind of build that is ordered. */
export interface BuildOrder {
  readonly transition: BuildTransition
  readonly reason: BuildReason
  /** The previous build's unless given; the active one at the first. */
  readonly template_version_id?: Uuid | undefined
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
  /** Unless given, the preset that the values fulfil. */
  readonly template_version_preset_id?: Uuid | undefined
  /** The state that the engine starts from; the previous build's unless given. */
  readonly state?: Uint8Array | undefined
  readonly log_level?: "debug" | undefined
  /** 1 creates a prebuilt workspace, 2 claims one. */
  readonly prebuilt_workspace_stage?: 1 | 2 | undefined
}

/** A build that may be queued. */
export interface PreparedBuild {
  readonly target: BuildTarget
  readonly order: BuildOrder
  readonly version: AuthoredVersion
  readonly source: ProvisionerJob
  readonly tags: ProvisionerTags
  readonly parameters: ReadonlyArray<ParameterValue>
  readonly presetId: Uuid | null
  /** The preset that the order names, or whose values it gives; a prebuilt workspace of it can be claimed. */
  readonly chosen: TemplateVersionPreset | undefined
  readonly state: Uint8Array
}

/** A build whose work is done: `state` of the prepared build is what the engine keeps of it. */
export interface DoneBuild extends Deadlines, Pick<WorkspaceBuild, "id" | "daily_cost" | "has_ai_task" | "has_external_agent"> {}

const importStatus = (status: JobStatus): Invalid | Unacceptable | undefined => {
  if (status === "succeeded") return undefined
  return isActive(status)
    ? new Unacceptable({ message: "The template version is still being imported.", detail: `Its import is ${status}.` })
    : new Invalid({ message: "The template version was not imported.", detail: `Its import is ${status}.` })
}

const busy = new Conflict({ message: "A workspace build is already active." })

/** A build that was queued, with its job. */
export interface QueuedBuild extends WorkspaceBuild {
  readonly job: ProvisionerJob
}

/** A build that may be queued, and who orders it. */
export interface OrderedBuild {
  readonly prepared: PreparedBuild
  readonly actor: Actor
}

/** The methods of {@link BuildOrders}. */
export interface BuildOrdersService {
  /**
   * Decides whether a build may be queued, and with which values, tags and state. Fails with the first rule that is broken, in the
   * order of workspaces.md §4.1 from number 7 on. Permissions on the workspace itself are the caller's business. Reads for itself, unless
   * the caller has `reads` for several builds.
   */
  readonly prepare: (
    target: BuildTarget,
    order: BuildOrder,
    reads?: BuildReads
  ) => Effect.Effect<PreparedBuild, Invalid | Forbidden | Conflict | Unacceptable | TimedOut, CurrentActor>

  /**
   * What `prepare` needs of builds that follow these, read once for all of them. It is of the time of the call: use it at once, and decide again in the
   * transaction that queues the builds.
   */
  readonly readsOf: (previous: ReadonlyArray<WorkspaceBuildId>) => Effect.Effect<BuildReads>

  /** Queues a build, in the caller's transaction. Fails with `Conflict` if another build of the workspace was queued first. §4.1. */
  readonly enqueue: (prepared: PreparedBuild) => Effect.Effect<QueuedBuild, Conflict, CurrentActor | EventBus>

  /** As `enqueue`, of builds of several workspaces, by three statements. If one cannot be queued, all fail. */
  readonly enqueueAll: (ordered: ReadonlyArray<OrderedBuild>) => Effect.Effect<ReadonlyArray<QueuedBuild>, Conflict, EventBus>

  /** Stores a build that is done already, in the caller's transaction: no daemon hears of it. Fails with `Conflict` as `enqueue` does. */
  readonly insertDone: (prepared: PreparedBuild, done: DoneBuild) => Effect.Effect<WorkspaceBuild, Conflict, CurrentActor>
}

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const states = yield* BuildStates
  const versions = yield* TemplateVersionRepository
  const jobRows = yield* ProvisionerJobRepository
  const jobs = yield* ProvisionerJobs
  const inputs = yield* BuildInputs
  const sources = yield* TemplateSources
  const forms = yield* ParameterForms
  const ids = yield* Ids

  const { ofOne, shared } = buildReads({ versions, jobs: jobRows, builds, states })

  const { versionOf, presetOf, definitionsOf, evaluatedTags } = buildDefinitions({ versions, forms, sources, inputs })

  const jobOf = ({ order, source, tags, target }: PreparedBuild, workspace_build_id: Uuid, { userId }: Actor): NewJob => ({
    organization_id: target.template.organization_id,
    initiator_id: userId,
    provisioner: source.provisioner,
    type: "workspace_build",
    file_id: source.file_id,
    input: {
      workspace_build_id,
      ...(order.log_level === undefined ? {} : { log_level: order.log_level }),
      ...(order.prebuilt_workspace_stage === undefined ? {} : { prebuilt_workspace_stage: order.prebuilt_workspace_stage })
    },
    tags
  })

  const storedBuild = ({ actor, prepared }: OrderedBuild, job: ProvisionerJob, outcome: DoneBuild) =>
    Effect.gen(function* () {
      const { order, target, version } = prepared
      const now = yield* Timestamp.now
      const build: WorkspaceBuild = {
        ...outcome,
        created_at: now,
        updated_at: now,
        workspace_id: target.workspace.id,
        template_version_id: version.id,
        build_number: (target.previous?.build_number ?? 0) + 1,
        transition: order.transition,
        initiator_id: actor.userId,
        job_id: job.id,
        reason: order.reason,
        template_version_preset_id: prepared.presetId,
        initiator_ip: actor.ip ?? ""
      }
      return { build, parameters: prepared.parameters, state: yield* states.seal(build.id, prepared.state) } satisfies StoredBuild
    })

  const insert = (stored: ReadonlyArray<StoredBuild>) => Effect.catchTag(builds.insert(stored), "Duplicate", () => busy)

  const enqueueAll = Traced.fn("BuildOrders.enqueueAll")(function* (ordered: ReadonlyArray<OrderedBuild>) {
    const made = yield* Effect.forEach(ordered, (build) => Effect.map(ids.next, (id) => ({ ...build, id })))
    const queued = yield* jobs.insertAll(made.map(({ actor, id, prepared }) => jobOf(prepared, id, actor)))
    const unknown = { ...noDeadlines, daily_cost: 0, has_ai_task: null, has_external_agent: null }
    const stored = yield* Effect.forEach(Arr.zip(made, queued), ([{ actor, id, prepared }, job]) =>
      Effect.map(storedBuild({ prepared, actor }, job, { id, ...unknown }), (row) => ({ ...row, job }))
    )
    yield* insert(stored)
    return stored.map(({ build, job }): QueuedBuild => ({ ...build, job }))
  })

  return {
    prepare: Traced.fn("BuildOrders.prepare")(function* (target: BuildTarget, order: BuildOrder, reads: BuildReads = ofOne) {
      const { owner, previous, template } = target
      const version = yield* versionOf(target, order, reads)
      const source = yield* Effect.flatMap(reads.source(version.job_id), Effect.orDie)
      const unfinished = importStatus(jobStatus(source))
      if (unfinished !== undefined) return yield* unfinished

      const features = yield* Entitlements
      if (order.transition === "start" && version.has_external_agent === true && !features.has("workspace_external_agent")) {
        return yield* new Forbidden({ message: "External agents are not part of this deployment's license." })
      }
      if (previous !== null && isActive(jobStatus(previous.job))) return yield* busy

      const before = previous === null ? null : yield* reads.parameters(previous.id)
      const { chosen, presets } = yield* presetOf(version, target, order, reads)
      const given = [...order.rich_parameter_values, ...(chosen?.parameters ?? [])]
      const parameters = yield* resolveParameters({
        classic: template.use_classic_parameter_flow,
        definitions: yield* definitionsOf(target, order, { version, job: source }, { given, previous: before ?? [] }, reads),
        given: order.rich_parameter_values,
        preset: chosen?.parameters ?? [],
        previous: before
      })
      const preset = chosen ?? matchingPreset(presets, parameters)
      const state = order.state ?? (previous === null ? new Uint8Array() : yield* reads.state(previous.id))
      const evaluated = yield* evaluatedTags({ target, order, version, source, parameters, state })
      const tags = overlayTags(normalizeTags(source.tags, owner.id), evaluated)
      const violation = tagsViolation(tags)
      if (violation !== undefined) return yield* Invalid.field("tags", violation, "The workspace's tags cannot be used.")

      if (order.transition === "start" && template.require_active_version && version.id !== template.active_version_id) {
        if (!(yield* Access.can("update", AccessObjects.template(template)))) {
          return yield* new Forbidden({ message: "The template requires its active version." })
        }
      }
      return { target, order, version, source, tags, parameters, presetId: preset?.id ?? null, chosen, state } satisfies PreparedBuild
    }),

    readsOf: shared,

    enqueue: Traced.fn("BuildOrders.enqueue")(function* (prepared: PreparedBuild) {
      const queued = yield* enqueueAll([{ prepared, actor: yield* CurrentActor }])
      return yield* Effect.orDie(Arr.head(queued))
    }),

    enqueueAll,

    insertDone: Traced.fn("BuildOrders.insertDone")(function* (prepared: PreparedBuild, done: DoneBuild) {
      const actor = yield* CurrentActor
      const stored = yield* storedBuild({ prepared, actor }, yield* jobs.insertDone(jobOf(prepared, done.id, actor)), done)
      yield* insert([stored])
      return stored.build
    })
  }
})

/** Decides whether ordered builds are allowed, and queues them, for callers and for schedules. */
export class BuildOrders extends Context.Tag("@atelier/core/BuildOrders")<BuildOrders, BuildOrdersService>() {
  static readonly layer = standingOn(
    service(BuildOrders, make),
    BuildStates.layer,
    ProvisionerJobs.layer,
    BuildInputs.layer,
    ParameterForms.layer,
    TemplateSources.layer
  )
}
