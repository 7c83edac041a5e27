import { Context, Effect, Option, type Stream } from "effect"
import * as Access from "../../access/Access.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Entitled, rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import { viewContext } from "../../agents/AgentView.js"
import type { BuildResource } from "../../agents/resources/BuildResource.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { resourceViews, type ResourceView } from "../../agents/resources/ResourceView.js"
import * as Audit from "../../audit/Audit.js"
import { Organizations } from "../../organizations/Organizations.js"
import { Conflict, Forbidden, Invalid, NotFound, NotReady, type UpstreamFailure } from "../../platform/Errors.js"
import type { Page } from "../../platform/lists/Pagination.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { JobLog } from "../../provisioning/logs/JobLog.js"
import { jobStatus, type QueuedJob } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { ExternalAuthRequirements } from "../../externalAuth/ExternalAuthRequirements.js"
import { missingTemplate } from "../Template.js"
import { auditedTemplate, auditedVersion, templateSubject, versionSubject } from "../TemplateAudit.js"
import { activeVersionChanges } from "../TemplateEvents.js"
import { TemplateRepository } from "../TemplateRepository.js"
import {
  type AuthoredVersion,
  messageViolation,
  type TemplateVersion,
  type TemplateVersionId,
  versionNameViolation
} from "./TemplateVersion.js"
import { parameterView, presetView, type ParameterView, type PresetView } from "./TemplateVersionDefinitionViews.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { type TemplateVersionView, templateVersionView } from "./TemplateVersionView.js"
import { withoutSecrets } from "./Variables.js"
import { visibleTemplate } from "../VisibleTemplate.js"
import { missingVersion as missing, visibleVersions } from "./VisibleVersion.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Auditing } from "../../audit/Audit.js"
import type { TemplateVersionVariable } from "./TemplateVersionDefinitions.js"
import type { ExternalAuthView } from "../../externalAuth/ExternalAuthView.js"

/** The methods of {@link TemplateVersions}. */
export interface TemplateVersionsService {
  /** A version by id. */
  readonly get: (id: TemplateVersionId) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /** A version of a template by its exact name. */
  readonly getByName: (templateId: Uuid, name: string) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /** As `getByName`, with the template named by organization and name. */
  readonly getByNames: (
    organization: string,
    templateName: string,
    name: string
  ) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /**
   * Returns the version of the same template that was created last before the named one, whatever its import's status, and archived ones
   * too; None for the first version. templates-and-provisioning.md §3.4.
   */
  readonly previous: (
    organization: string,
    templateName: string,
    name: string
  ) => Effect.Effect<Option.Option<TemplateVersionView>, NotFound, CurrentActor>

  /**
   * A template's versions, oldest first; archived ones where they are asked for. Fails with `Invalid` for an unknown `after_id`.
   * templates-and-provisioning.md §3.4.
   */
  readonly list: (
    templateId: Uuid,
    page: Page & { readonly include_archived: boolean }
  ) => Effect.Effect<ReadonlyArray<TemplateVersionView>, Invalid | NotFound, CurrentActor>

  /**
   * Renames a version or changes its message; an empty name and an absent message stay. Fails with `Invalid` when the name is taken.
   * templates-and-provisioning.md §3.5.
   */
  readonly update: (
    id: TemplateVersionId,
    change: { readonly name: string; readonly message?: string | undefined }
  ) => Effect.Effect<TemplateVersionView, Invalid | Forbidden | NotFound, CurrentActor>

  /** Cancels the import. Fails with `Invalid` when it has ended or is canceled already. templates-and-provisioning.md §3.5. */
  readonly cancel: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>

  /**
   * Makes a version the one that new workspaces are built with. Fails with `Invalid` for an archived version or one of another
   * template, with `Forbidden` when its import has not succeeded. templates-and-provisioning.md §3.5.
   */
  readonly promote: (
    templateId: Uuid,
    id: TemplateVersionId
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Archives a version. Fails with `Invalid` for a version without a template or one that is archived, and with `Conflict` if it is the
   * active one, a workspace uses it, or its import runs. §3.5.
   */
  readonly archive: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Brings a version back. Fails with `Invalid` for a version without a template or one that is not archived. §3.5. */
  readonly unarchive: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Archives the versions of a template that nothing uses: all of them, or those whose import failed. Returns their ids. §3.5. */
  readonly archiveUnused: (
    templateId: Uuid,
    all: boolean
  ) => Effect.Effect<{ readonly template_id: Uuid; readonly archived_ids: ReadonlyArray<Uuid> }, NotFound, CurrentActor | Auditing>

  /** Parameters and schemas of the form that versions had before rich parameters: none. §3.4. */
  readonly legacyDefinitions: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<never>, NotFound, CurrentActor>

  /** The rows of the import's log with ids larger than `after`. */
  readonly logs: (id: TemplateVersionId, after: number) => Effect.Effect<Stream.Stream<JobLog>, NotFound, CurrentActor>

  /** As `logs`, and then those that are written until the import ends. */
  readonly followLogs: (
    id: TemplateVersionId,
    after: number
  ) => Effect.Effect<{ readonly right: StreamRight; readonly values: Stream.Stream<JobLog> }, NotFound, CurrentActor>

  /** The resources of a start and a stop, by name. Fails with `Invalid` until the import has ended. */
  readonly resources: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<ResourceView>, Invalid | NotFound, CurrentActor>

  /** The version's parameters in their order. Fails with `NotReady` until the import has ended. */
  readonly parameters: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<ParameterView>, NotFound | NotReady, CurrentActor>

  /** The version's variables, without what is sensitive. Fails with `Forbidden` until the import has ended. */
  readonly variables: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<TemplateVersionVariable>, Forbidden | NotFound, CurrentActor>

  /**
   * The external providers that a workspace of this version needs, as a user is signed in to them; by default the actor. Fails with
   * `Forbidden` for a user for whom the actor may not create workspaces, and with `NotFound` while a provider is not configured.
   * templates-and-provisioning.md §3.4.
   */
  readonly externalAuth: (
    id: TemplateVersionId,
    user?: Uuid
  ) => Effect.Effect<ReadonlyArray<ExternalAuthView>, Forbidden | NotFound | UpstreamFailure, CurrentActor>

  /** The version's presets in their order; null when it has none. */
  readonly presets: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<PresetView> | null, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const requirements = yield* ExternalAuthRequirements
  const repository = yield* TemplateVersionRepository
  const templates = yield* TemplateRepository
  const jobs = yield* ProvisionerJobs
  const resources = yield* BuildResources
  const organizations = yield* Organizations

  const { load, objectOf, readable } = yield* visibleVersions

  /** A version that the actor may change. */
  const loadForUpdate = (id: TemplateVersionId) =>
    Effect.gen(function* () {
      const version = yield* load(id)
      yield* Access.authorize("update", yield* objectOf(version))
      return version
    })

  /** A template that the actor may read; deleted ones are not found. */
  const liveTemplate = (id: Uuid) => Effect.flatMap(templates.byId(id), visibleTemplate)

  /** A version that the actor may read, by the names of its template and of itself. */
  const named = (organization: string, templateName: string, name: string) =>
    Effect.gen(function* () {
      const { id } = yield* organizations.get(organization)
      const template = yield* Effect.flatMap(templates.byName(id, templateName), visibleTemplate)
      return yield* readable(yield* repository.byName(template.id, name))
    })

  /** Versions with their jobs. Three statements, for any number of versions. */
  const viewsOf = (versions: ReadonlyArray<AuthoredVersion>): Effect.Effect<ReadonlyArray<TemplateVersionView>> =>
    Effect.gen(function* () {
      const found = yield* jobs.byIds(versions.map(({ job_id }) => job_id))
      const pending = [...found.values()].filter((job) => jobStatus(job) === "pending").map(({ id }) => id)
      const matched = yield* jobs.matchedProvisioners(pending)
      return versions.flatMap((version): ReadonlyArray<TemplateVersionView> => {
        const job = found.get(version.job_id)
        return job === undefined ? [] : [templateVersionView(version, job, matched.get(job.id))]
      })
    })

  const viewOf = (version: AuthoredVersion): Effect.Effect<TemplateVersionView, NotFound> =>
    Effect.flatMap(viewsOf([version]), ([view]) => (view === undefined ? missing : Effect.succeed(view)))

  const jobOf = (version: TemplateVersion): Effect.Effect<QueuedJob> => Effect.orDie(jobs.get(version.job_id))

  /** The version when its import has ended; `refusal` before. */
  const imported = <E>(id: TemplateVersionId, refusal: (status: string) => E) =>
    Effect.gen(function* () {
      const version = yield* load(id)
      const job = yield* jobOf(version)
      if (job.completed_at === null) return yield* Effect.fail(refusal(jobStatus(job)))
      return version
    })

  return {
    get: Traced.fn("TemplateVersions.get")(function* (id: TemplateVersionId) {
      return yield* viewOf(yield* load(id))
    }),

    getByName: Traced.fn("TemplateVersions.getByName")(function* (templateId: Uuid, name: string) {
      const template = yield* liveTemplate(templateId)
      return yield* viewOf(yield* readable(yield* repository.byName(template.id, name)))
    }),

    getByNames: Traced.fn("TemplateVersions.getByNames")(function* (organization: string, templateName: string, name: string) {
      return yield* viewOf(yield* named(organization, templateName, name))
    }),

    previous: Traced.fn("TemplateVersions.previous")(function* (organization: string, templateName: string, name: string) {
      const version = yield* named(organization, templateName, name)
      const previous = yield* repository.previous(version)
      return yield* Effect.transposeMapOption(previous, viewOf)
    }),

    list: Traced.fn("TemplateVersions.list")(function* (
      templateId: Uuid,
      { include_archived, ...page }: Page & { readonly include_archived: boolean }
    ) {
      const template = yield* liveTemplate(templateId)
      const versions = yield* repository.list(template.id, page, include_archived)
      if (Option.isNone(versions)) return yield* Invalid.field("after_id", "names no template version")
      return yield* viewsOf(versions.value)
    }),

    update: Traced.fn("TemplateVersions.update")(function* (
      id: TemplateVersionId,
      change: { readonly name: string; readonly message?: string | undefined }
    ) {
      const version = yield* loadForUpdate(id)
      const name = change.name || version.name
      const message = change.message ?? version.message
      const nameViolation = versionNameViolation(name)
      if (nameViolation !== undefined) return yield* Invalid.field("name", nameViolation)
      const tooLong = messageViolation(message)
      if (tooLong !== undefined) return yield* Invalid.field("message", tooLong)
      const updated_at = yield* Timestamp.now
      yield* Effect.mapError(repository.rename(id, { name, message, updated_at }), () =>
        Invalid.field("name", "is taken", "Another version of the template has the name.")
      )
      return yield* viewOf({ ...version, name, message, updated_at })
    }),

    cancel: Traced.fn("TemplateVersions.cancel")(function* (id: TemplateVersionId) {
      const version = yield* loadForUpdate(id)
      // No status is expected, so none is missed
      yield* Effect.catchTag(jobs.cancel(version.job_id), "ExpectationMismatch", Effect.die)
    }),

    promote: Traced.fn("TemplateVersions.promote")(function* (templateId: Uuid, id: TemplateVersionId) {
      const found = yield* liveTemplate(templateId)
      yield* Audit.audited(
        templateSubject(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorize("update", AccessObjects.template(found))
          const version = Option.getOrUndefined(yield* repository.byId(id))
          if (version === undefined) return yield* missing
          if (version.template_id !== templateId) {
            return yield* new Invalid({ message: "The provided template version doesn't belong to the specified template." })
          }
          const status = jobStatus(yield* jobOf(version))
          if (status !== "succeeded") {
            return yield* new Forbidden({
              message: "Only versions that have been built successfully can be promoted.",
              detail: `Attempted to promote a version with a ${status} build`
            })
          }
          const before = yield* Effect.mapError(Effect.flatten(templates.lock(templateId)), () => missingTemplate)
          // Archiving locks the template too, so this second read stays true until the end of the transaction
          const current = yield* repository.byId(id)
          if (Option.exists(current, ({ archived }) => archived)) {
            return yield* new Invalid({ message: "The provided template version is archived." })
          }
          const after = { ...before, active_version_id: id, updated_at: yield* Timestamp.now }
          yield* Effect.orDie(templates.update(after))
          yield* publish(activeVersionChanges(templateId), {})
          return { value: undefined, before: auditedTemplate(before), after: auditedTemplate(after) }
        })
      )
    }),

    archive: Traced.fn("TemplateVersions.archive")(function* (id: TemplateVersionId) {
      const version = yield* loadForUpdate(id)
      yield* Audit.audited(
        versionSubject(version, "write"),
        Effect.gen(function* () {
          const { template_id } = version
          if (template_id === null) return yield* new Invalid({ message: "Cannot archive a template version without a template." })
          if (version.archived) return yield* new Invalid({ message: "Template version is already archived." })
          yield* Effect.mapError(Effect.flatten(templates.lock(template_id)), () => missingTemplate)
          const archived = yield* repository.archive(template_id, { id, failedOnly: false }, yield* Timestamp.now)
          if (archived.length === 0) {
            return yield* new Conflict({
              message: "The template version is in use.",
              detail: "It is the active version, a workspace uses it, or its import has not ended."
            })
          }
          return { value: undefined, before: auditedVersion(version), after: auditedVersion({ ...version, archived: true }) }
        })
      )
    }),

    unarchive: Traced.fn("TemplateVersions.unarchive")(function* (id: TemplateVersionId) {
      const version = yield* loadForUpdate(id)
      yield* Audit.audited(
        versionSubject(version, "write"),
        Effect.gen(function* () {
          if (version.template_id === null)
            return yield* new Invalid({ message: "Cannot unarchive a template version without a template." })
          if (!(yield* repository.unarchive(id, yield* Timestamp.now))) {
            return yield* new Invalid({ message: "Template version is not archived." })
          }
          return { value: undefined, before: auditedVersion(version), after: auditedVersion({ ...version, archived: false }) }
        })
      )
    }),

    archiveUnused: Traced.fn("TemplateVersions.archiveUnused")(function* (templateId: Uuid, all: boolean) {
      const found = yield* liveTemplate(templateId)
      return yield* Audit.audited(
        templateSubject(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorizeOrHide("update", AccessObjects.template(found), missingTemplate)
          const template = yield* Effect.mapError(Effect.flatten(templates.lock(templateId)), () => missingTemplate)
          const archived_ids = yield* repository.archive(templateId, { failedOnly: !all }, yield* Timestamp.now)
          const value = { template_id: templateId, archived_ids }
          return { value, before: auditedTemplate(template), after: auditedTemplate(template) }
        })
      )
    }),

    legacyDefinitions: Traced.fn("TemplateVersions.legacyDefinitions")(function* (id: TemplateVersionId) {
      yield* load(id)
      return []
    }),

    logs: Traced.fn("TemplateVersions.logs")(function* (id: TemplateVersionId, after: number) {
      const version = yield* load(id)
      const logs: Stream.Stream<JobLog> = jobs.logs(version.job_id, after)
      return logs
    }),

    followLogs: Traced.fn("TemplateVersions.followLogs")(function* (id: TemplateVersionId, after: number) {
      const [right, version] = yield* rightTo(`template_version:${id}`, load(id))
      return { right, values: jobs.follow(version.job_id, after) } satisfies Entitled<JobLog>
    }),

    resources: Traced.fn("TemplateVersions.resources")(function* (id: TemplateVersionId) {
      const version = yield* imported(id, (status) => new Invalid({ message: "Job hasn't completed!", detail: `Its status is ${status}.` }))
      const found: ReadonlyArray<BuildResource> = (yield* resources.ofJobs([version.job_id])).get(version.job_id) ?? []
      return resourceViews(found, yield* viewContext(null))
    }),

    parameters: Traced.fn("TemplateVersions.parameters")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new NotReady({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.parameters(version.id)).map(parameterView)
    }),

    variables: Traced.fn("TemplateVersions.variables")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new Forbidden({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.variables(version.id)).map(withoutSecrets)
    }),

    externalAuth: Traced.fn("TemplateVersions.externalAuth")(function* (id: TemplateVersionId, user?: Uuid) {
      const version = yield* load(id)
      const { userId } = yield* CurrentActor
      if (user !== undefined && user !== userId) {
        yield* Access.authorize("create", AccessObjects.ownedIn("workspace", version.organization_id, user))
      }
      return yield* requirements.providers(version.id, user ?? userId)
    }),

    presets: Traced.fn("TemplateVersions.presets")(function* (id: TemplateVersionId) {
      const version = yield* load(id)
      const presets = yield* repository.presets(version.id)
      return presets.length === 0 ? null : presets.map(presetView)
    })
  }
})

/** The states of templates' sources. */
export class TemplateVersions extends Context.Tag("@atelier/core/TemplateVersions")<TemplateVersions, TemplateVersionsService>() {
  static readonly layer = standingOn(
    service(TemplateVersions, make),
    ExternalAuthRequirements.layer,
    ProvisionerJobs.layer,
    BuildResources.layer,
    Organizations.layer
  )
}
