import { Context, Effect, Layer, Option, type Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/Actor.js"
import type { AccessObject } from "../access/Resource.js"
import { resourceView, viewContext } from "../agents/AgentView.js"
import type { BuildResource } from "../agents/BuildResource.js"
import { BuildResources } from "../agents/BuildResources.js"
import * as Audit from "../audit/Audit.js"
import { diff } from "../audit/Tracked.js"
import { Organizations } from "../organizations/Organizations.js"
import { Conflict, Forbidden, Invalid, NotFound, NotReady, type Validation } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Name from "../platform/Name.js"
import type { Page } from "../platform/Pagination.js"
import * as Timestamp from "../platform/Timestamp.js"
import { publish, transaction } from "../platform/Transactor.js"
import type { Uuid } from "../platform/Uuid.js"
import { type File, type FileId, tarType } from "../provisioning/File.js"
import { Files } from "../provisioning/Files.js"
import type { JobLog } from "../provisioning/JobLog.js"
import { jobStatus, type ProvisionerType, type QueuedJob } from "../provisioning/ProvisionerJob.js"
import { ProvisionerJobs } from "../provisioning/ProvisionerJobs.js"
import { normalizeTags, overlayTags, type ProvisionerTags, tagsFlaw } from "../provisioning/ProvisionerTags.js"
import { SourceTags } from "./SourceTags.js"
import { StarterTemplates } from "./StarterTemplates.js"
import { templateObject } from "./Template.js"
import { auditedTemplate, auditedVersion } from "./TemplateAudit.js"
import { activeVersionChanges } from "./TemplateEvents.js"
import { TemplateRepository } from "./TemplateRepository.js"
import { type AuthoredVersion, type TemplateVersion, type TemplateVersionId, versionNameFlaw } from "./TemplateVersion.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { parameterView, presetView, type TemplateVersionView, templateVersionView } from "./TemplateVersionView.js"
import { withoutSecrets } from "./Variables.js"

/** What a new version is made of. */
export interface NewVersion {
  readonly provisioner: ProvisionerType
  /** Exactly one of these is the source. */
  readonly file_id?: FileId | undefined
  readonly example_id?: string | undefined
  /** Made up when absent or empty. */
  readonly name?: string | undefined
  readonly message: string
  readonly template_id?: Uuid | undefined
  readonly tags: ProvisionerTags
  readonly user_variable_values: ReadonlyArray<{ readonly name: string; readonly value: string }>
}

const maximumMessage = 1_048_576

/** How often another made-up name is tried when one is taken. */
const nameAttempts = 5

const missing = new NotFound({ resource: "template_version" })
const missingTemplate = new NotFound({ resource: "template" })

const nameTaken = (name: string): readonly [Validation] => [{ field: "name", detail: `${JSON.stringify(name)} is already in use` }]

const make = Effect.gen(function* () {
  const repository = yield* TemplateVersionRepository
  const templates = yield* TemplateRepository
  const jobs = yield* ProvisionerJobs
  const files = yield* Files
  const resources = yield* BuildResources
  const organizations = yield* Organizations
  const sourceTags = yield* SourceTags
  const ids = yield* Ids

  /** What a permission check on a version is made of: its template, or templates of its organization where it has none. */
  const objectOf = (version: TemplateVersion): Effect.Effect<AccessObject> => {
    const { organization_id, template_id } = version
    if (template_id === null) return Effect.succeed(AccessObjects.inOrganization("template", organization_id))
    return Effect.map(Effect.flatMap(templates.byId(template_id), Effect.orDie), templateObject)
  }

  const readable = (found: Option.Option<AuthoredVersion>) =>
    Effect.gen(function* () {
      if (Option.isNone(found)) return yield* missing
      yield* Access.readable(yield* objectOf(found.value), missing)
      return found.value
    })

  /** A version that the actor may read; those of deleted templates are found too. */
  const load = (id: TemplateVersionId) => Effect.flatMap(repository.byId(id), readable)

  /** A version that the actor may change. */
  const loadForUpdate = (id: TemplateVersionId) =>
    Effect.gen(function* () {
      const version = yield* load(id)
      yield* Access.authorize("update", yield* objectOf(version))
      return version
    })

  /** A template that the actor may read; deleted ones are not found. */
  const liveTemplate = (id: Uuid) =>
    Effect.flatMap(templates.byId(id), (found) =>
      Access.visible(Option.getOrUndefined(Option.filter(found, ({ deleted }) => !deleted)), templateObject, missingTemplate)
    )

  /** Versions with their jobs. Three statements, however many there are. */
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

  /** A template a version can belong to, by reference, if there is one. */
  const templateFor = (organizationId: Uuid, id: Uuid | undefined) =>
    Effect.gen(function* () {
      if (id === undefined) {
        yield* Access.authorize("create", AccessObjects.inOrganization("template", organizationId))
        return undefined
      }
      const template = Option.getOrUndefined(yield* templates.byId(id))
      const isOne = template !== undefined && !template.deleted && template.organization_id === organizationId
      const found = yield* Access.visible(isOne ? template : undefined, templateObject, missingTemplate)
      yield* Access.authorize("create", templateObject(found))
      return found
    })

  /** Every rule that a new version breaks. */
  const flawsOf = ({ example_id = "", file_id, message, name = "", tags }: NewVersion): ReadonlyArray<Validation> => {
    const flaws: Array<Validation> = []
    const nameFlaw = name === "" ? undefined : versionNameFlaw(name)
    if (nameFlaw !== undefined) flaws.push({ field: "name", detail: nameFlaw })
    if (message.length > maximumMessage) flaws.push({ field: "message", detail: `must be at most ${maximumMessage} characters` })
    if (file_id === undefined && example_id === "") {
      flaws.push(
        { field: "file_id", detail: "is required without example_id" },
        { field: "example_id", detail: "is required without file_id" }
      )
    } else if (file_id !== undefined && example_id !== "") {
      flaws.push({ field: "file_id", detail: "cannot be given together with example_id" })
      flaws.push({ field: "example_id", detail: "cannot be given together with file_id" })
    }
    const tagFlaw = tagsFlaw(tags)
    if (tagFlaw !== undefined) flaws.push({ field: "tags", detail: tagFlaw })
    return flaws
  }

  /** The source of a new version: a file the actor may read, or a starter template stored as the actor's own. */
  const sourceOf = ({ example_id, file_id }: NewVersion) =>
    Effect.gen(function* () {
      if (file_id !== undefined) {
        const file = yield* files.get(file_id)
        return file.mimetype === tarType ? file : yield* Invalid.field("file_id", `is of the type ${file.mimetype}, which is no archive`)
      }
      const { userId } = yield* CurrentActor
      yield* Access.authorize("create", AccessObjects.ownedBy("file", userId))
      yield* Access.authorize("read", AccessObjects.ownedBy("file", userId))
      const example = (yield* StarterTemplates).find(({ id }) => id === example_id)
      if (example === undefined) return yield* Invalid.field("example_id", "names no starter template")
      const { id } = yield* files.storeTar(userId, yield* example.tar)
      return yield* files.get(id)
    })

  const store = (version: TemplateVersion, file: File, request: NewVersion, tags: ProvisionerTags) =>
    transaction(
      Effect.gen(function* () {
        const { organization_id, template_id } = version
        const job = yield* jobs.insert({
          organization_id,
          initiator_id: version.created_by,
          provisioner: request.provisioner,
          type: "template_version_import",
          file_id: file.id,
          input: {
            template_version_id: version.id,
            user_variable_values: request.user_variable_values,
            ...(template_id === null ? {} : { template_id })
          },
          tags
        })
        if (template_id !== null && Option.isNone(yield* templates.hold(template_id))) return yield* missingTemplate
        yield* repository.insert({ ...version, job_id: job.id })
        yield* Audit.record({
          action: "create",
          type: "template_version",
          id: version.id,
          target: version.name,
          organization_id,
          status_code: (yield* Audit.AuditStatus).success,
          diff: diff("template_version", undefined, auditedVersion(version))
        })
        return job
      })
    )

  return {
    /**
     * Makes a version of a source and queues its import. Tags come from the source, overlaid with those of the request. Fails with
     * `Conflict` when the template has a version of that name. templates-and-provisioning.md §3.1, §3.2.
     */
    create: Effect.fn("TemplateVersions.create")(function* (organization: string, request: NewVersion) {
      const { id: organization_id } = yield* organizations.get(organization)
      const template = yield* templateFor(organization_id, request.template_id)
      const flaws = flawsOf(request)
      if (flaws.length > 0) return yield* new Invalid({ message: "Validation failed.", validations: flaws })
      const file = yield* sourceOf(request)
      const { userId } = yield* CurrentActor
      const fromSource = yield* sourceTags.evaluate(file, request.user_variable_values, template?.id)
      const tags = normalizeTags(overlayTags(fromSource, request.tags), userId)
      const tagFlaw = tagsFlaw(tags)
      if (tagFlaw !== undefined) return yield* Invalid.field("tags", tagFlaw, "The tags of the template's workspaces cannot be used.")
      const now = yield* Timestamp.now
      const version: Omit<TemplateVersion, "name" | "id"> = {
        created_at: now,
        updated_at: now,
        organization_id,
        template_id: template?.id ?? null,
        message: request.message,
        readme: "",
        job_id: file.id,
        created_by: userId,
        archived: false,
        source_example_id: request.example_id || null,
        has_ai_task: null,
        has_external_agent: null,
        workspace_tags: {}
      }
      const attempt = Effect.gen(function* () {
        const name = request.name || (yield* Name.random("_"))
        const id = yield* ids.next
        const job = yield* Effect.mapError(store({ ...version, id, name }, file, request, tags), (error) =>
          error._tag === "Duplicate"
            ? new Conflict({
                message: `A template version with name ${JSON.stringify(name)} already exists.`,
                validations: nameTaken(name)
              })
            : error
        )
        return { id, job }
      })
      const isMadeUp = !request.name
      const { id, job } = yield* Effect.retry(attempt, {
        times: nameAttempts,
        while: (error) => isMadeUp && error._tag === "Conflict"
      })
      const created = yield* Effect.flatMap(repository.byId(id), Effect.orDie)
      const matched = yield* jobs.matchedProvisioners([job.id])
      const none = { count: 0, available: 0, most_recently_seen: null }
      // Nobody can tell yet how long it will wait
      return templateVersionView(created, { ...job, queue_position: 0, queue_size: 0 }, matched.get(job.id) ?? none)
    }),

    /** A version by id. */
    get: Effect.fn("TemplateVersions.get")(function* (id: TemplateVersionId) {
      return yield* viewOf(yield* load(id))
    }),

    /** A version of a template by its exact name. */
    getByName: Effect.fn("TemplateVersions.getByName")(function* (templateId: Uuid, name: string) {
      const template = yield* liveTemplate(templateId)
      return yield* viewOf(yield* readable(yield* repository.byName(template.id, name)))
    }),

    /** As `getByName`, with the template named by organization and name. */
    getByNames: Effect.fn("TemplateVersions.getByNames")(function* (organization: string, templateName: string, name: string) {
      const { id } = yield* organizations.get(organization)
      const template = yield* Access.visible(
        Option.getOrUndefined(yield* templates.byName(id, templateName)),
        templateObject,
        missingTemplate
      )
      return yield* viewOf(yield* readable(yield* repository.byName(template.id, name)))
    }),

    /** A template's versions, oldest first; archived ones where they are asked for. Fails with `Invalid` for an unknown `after_id`. §3.4. */
    list: Effect.fn("TemplateVersions.list")(function* (
      templateId: Uuid,
      { include_archived, ...page }: Page & { readonly include_archived: boolean }
    ) {
      const template = yield* liveTemplate(templateId)
      const versions = yield* repository.list(template.id, page, include_archived)
      if (Option.isNone(versions)) return yield* Invalid.field("after_id", "names no template version")
      return yield* viewsOf(versions.value)
    }),

    /** Renames a version or changes its message; an empty name and an absent message stay. Fails with `Invalid` when the name is taken. §3.5. */
    update: Effect.fn("TemplateVersions.update")(function* (
      id: TemplateVersionId,
      change: { readonly name: string; readonly message?: string | undefined }
    ) {
      const version = yield* loadForUpdate(id)
      const name = change.name || version.name
      const message = change.message ?? version.message
      const nameFlaw = versionNameFlaw(name)
      if (nameFlaw !== undefined) return yield* Invalid.field("name", nameFlaw)
      if (message.length > maximumMessage) return yield* Invalid.field("message", `must be at most ${maximumMessage} characters`)
      const updated_at = yield* Timestamp.now
      yield* Effect.mapError(
        repository.rename(id, { name, message, updated_at }),
        () => new Invalid({ message: "A template version with that name already exists.", validations: nameTaken(name) })
      )
      return yield* viewOf({ ...version, name, message, updated_at })
    }),

    /** Cancels the import. Fails with `Invalid` when it has ended or is canceled already. §3.5. */
    cancel: Effect.fn("TemplateVersions.cancel")(function* (id: TemplateVersionId) {
      const version = yield* loadForUpdate(id)
      // No status is expected, so none is missed
      yield* Effect.catchTag(jobs.cancel(version.job_id), "ExpectationMismatch", Effect.die)
    }),

    /**
     * Makes a version the one that new workspaces are built with. Fails with `Invalid` for an archived version or one of another
     * template, with `Forbidden` when its import has not succeeded. §3.5.
     */
    promote: Effect.fn("TemplateVersions.promote")(function* (templateId: Uuid, id: TemplateVersionId) {
      const found = yield* liveTemplate(templateId)
      yield* Audit.audited(
        { action: "write", type: "template", id: found.id, target: found.name, organization_id: found.organization_id },
        Effect.gen(function* () {
          yield* Access.authorize("update", templateObject(found))
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
          if (version.archived) return yield* new Invalid({ message: "The provided template version is archived." })
          const before = yield* Effect.mapError(Effect.flatten(templates.lock(templateId)), () => missingTemplate)
          const after = { ...before, active_version_id: id, updated_at: yield* Timestamp.now }
          yield* Effect.orDie(templates.update(after))
          yield* publish(activeVersionChanges(templateId), {})
          return { value: undefined, before: auditedTemplate(before), after: auditedTemplate(after) }
        })
      )
    }),

    /** The rows of the import's log with ids larger than `after`. */
    logs: Effect.fn("TemplateVersions.logs")(function* (id: TemplateVersionId, after: number) {
      const version = yield* load(id)
      const logs: Stream.Stream<JobLog> = jobs.logs(version.job_id, after)
      return logs
    }),

    /** As `logs`, and then those that are written until the import ends. */
    followLogs: Effect.fn("TemplateVersions.followLogs")(function* (id: TemplateVersionId, after: number) {
      const version = yield* load(id)
      const logs: Stream.Stream<JobLog> = jobs.follow(version.job_id, after)
      return logs
    }),

    /** What a start and a stop make, by name. Fails with `Invalid` until the import has ended. */
    resources: Effect.fn("TemplateVersions.resources")(function* (id: TemplateVersionId) {
      const version = yield* imported(id, (status) => new Invalid({ message: "Job hasn't completed!", detail: `Its status is ${status}.` }))
      const found: ReadonlyArray<BuildResource> = (yield* resources.ofJobs([version.job_id])).get(version.job_id) ?? []
      const context = yield* viewContext(null)
      return found
        .map((resource) => resourceView(resource, context))
        .toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
    }),

    /** The version's parameters in their order. Fails with `NotReady` until the import has ended. */
    parameters: Effect.fn("TemplateVersions.parameters")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new NotReady({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.parameters(version.id)).map(parameterView)
    }),

    /** The version's variables, without what is sensitive. Fails with `Forbidden` until the import has ended. */
    variables: Effect.fn("TemplateVersions.variables")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new Forbidden({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.variables(version.id)).map(withoutSecrets)
    }),

    /** The version's presets in their order; null when it has none. */
    presets: Effect.fn("TemplateVersions.presets")(function* (id: TemplateVersionId) {
      const version = yield* load(id)
      const presets = yield* repository.presets(version.id)
      return presets.length === 0 ? null : presets.map(presetView)
    })
  }
})

/** The states of templates' sources. */
export class TemplateVersions extends Context.Tag("@atelier/core/TemplateVersions")<
  TemplateVersions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(TemplateVersions, make)
}
