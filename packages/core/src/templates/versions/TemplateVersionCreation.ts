import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { missingOrganization } from "../../organizations/Organization.js"
import { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import { Organizations } from "../../organizations/Organizations.js"
import {
  Conflict,
  Invalid,
  refuseViolations,
  type Validation,
  type Forbidden,
  type NotFound,
  type TimedOut,
  type TooLarge
} from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type File, type FileId, tarType } from "../../provisioning/files/File.js"
import { Files } from "../../provisioning/files/Files.js"
import type { ProvisionerType } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { normalizeTags, overlayTags, type ProvisionerTags, tagsViolation } from "../../provisioning/queue/ProvisionerTags.js"
import type { UserVariableValue } from "../../provisioning/engines/SourceDefinitions.js"
import { SourceTags } from "./SourceTags.js"
import { StarterTemplates } from "../builder/StarterTemplates.js"
import { missingTemplate } from "../Template.js"
import { versionSubject } from "../TemplateAudit.js"
import { TemplateRepository } from "../TemplateRepository.js"
import { messageViolation, type TemplateVersion, versionNameViolation } from "./TemplateVersion.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { templateVersionView, type TemplateVersionView } from "./TemplateVersionView.js"
import { visibleTemplate } from "../VisibleTemplate.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** The fields of a new version. */
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
  readonly user_variable_values: ReadonlyArray<UserVariableValue>
}

/** How often another made-up name is tried when one is taken. */
const nameAttempts = 5

/** A request's empty tag says nothing: it replaces no tag of the source and adds none. */
const withoutEmpty = (tags: ProvisionerTags): ProvisionerTags =>
  Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== ""))

/** Every rule that a new version breaks. */
const violationsOf = ({ example_id = "", file_id, message, name = "", tags }: NewVersion): ReadonlyArray<Validation> => {
  const violations: Array<Validation> = []
  const nameViolation = name === "" ? undefined : versionNameViolation(name)
  if (nameViolation !== undefined) violations.push({ field: "name", detail: nameViolation })
  const tooLong = messageViolation(message)
  if (tooLong !== undefined) violations.push({ field: "message", detail: tooLong })
  if (file_id === undefined && example_id === "") {
    violations.push(
      { field: "file_id", detail: "is required without example_id" },
      { field: "example_id", detail: "is required without file_id" }
    )
  } else if (file_id !== undefined && example_id !== "") {
    violations.push({ field: "file_id", detail: "cannot be given together with example_id" })
    violations.push({ field: "example_id", detail: "cannot be given together with file_id" })
  }
  const tagViolation = tagsViolation(tags)
  if (tagViolation !== undefined) violations.push({ field: "tags", detail: tagViolation })
  return violations
}

/** The methods of {@link TemplateVersionCreation}. */
export interface TemplateVersionCreationService {
  /**
   * Makes a version of a source and queues its import. Tags come from the source, overlaid with those of the request. Fails with
   * `Conflict` when the template has a version of that name, and with `TimedOut` if the tags of the source are not known in time. templates-and-provisioning.md §3.1, §3.2.
   */
  readonly create: (
    organization: string,
    request: NewVersion
  ) => Effect.Effect<TemplateVersionView, Invalid | Forbidden | NotFound | TooLarge | Conflict | TimedOut, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* TemplateVersionRepository
  const templates = yield* TemplateRepository
  const jobs = yield* ProvisionerJobs
  const files = yield* Files
  const organizations = yield* Organizations
  const { lockShared } = yield* OrganizationChangeRepository
  const sourceTags = yield* SourceTags
  const ids = yield* Ids

  /** The template that a version shall belong to, where the request names one. Fails with `NotFound` for one of another organization. */
  const templateIn = (organizationId: Uuid, id: Uuid) =>
    Effect.flatMap(templates.byId(id), (found) =>
      visibleTemplate(Option.filter(found, ({ organization_id }) => organization_id === organizationId))
    )

  /** The source of a new version: a file that the actor has uploaded or may read, or a starter template stored as the actor's own. */
  const sourceOf = (file: File | undefined, { example_id }: NewVersion) =>
    Effect.gen(function* () {
      if (file !== undefined) {
        return file.mimetype === tarType
          ? file
          : yield* Invalid.field("file_id", `is of the type ${file.mimetype}, which is not an archive`)
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
        if (!(yield* lockShared(organization_id))) return yield* missingOrganization
        yield* files.keep(file.id)
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
        if (template_id !== null && Option.isNone(yield* templates.lockShared(template_id))) return yield* missingTemplate
        yield* repository.insert({ ...version, job_id: job.id })
        yield* Audit.record({
          ...versionSubject(version, "create"),
          status_code: (yield* Audit.AuditStatus).success,
          after: version
        })
        return job
      })
    )

  return {
    create: Traced.fn("TemplateVersionCreation.create")(function* (organization: string, request: NewVersion) {
      const { id: organization_id } = yield* organizations.get(organization)
      const template = request.template_id === undefined ? undefined : yield* templateIn(organization_id, request.template_id)
      yield* refuseViolations(violationsOf(request))
      const given = request.file_id === undefined ? undefined : yield* files.get(request.file_id)
      yield* Access.authorize(
        "create",
        template === undefined ? AccessObjects.inOrganization("template", organization_id) : AccessObjects.template(template)
      )
      const file = yield* sourceOf(given, request)
      const { userId } = yield* CurrentActor
      const fromSource = yield* sourceTags.evaluate(file, request.user_variable_values, template)
      const tags = normalizeTags(overlayTags(fromSource, withoutEmpty(request.tags)), userId)
      const tagViolation = tagsViolation(tags)
      if (tagViolation !== undefined)
        return yield* Invalid.field("tags", tagViolation, "The tags of the template's workspaces cannot be used.")
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
        engine: null,
        has_external_agent: null,
        workspace_tags: {}
      }
      const attempt = Effect.gen(function* () {
        const name = request.name || (yield* Name.random("_"))
        const id = yield* ids.next
        const job = yield* Effect.catchTag(store({ ...version, id, name }, file, request, tags), "Duplicate", () =>
          Conflict.taken("A version of this template", name)
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
      // The queue position is not known yet
      return templateVersionView(created, { ...job, queue_position: 0, queue_size: 0 }, matched.get(job.id) ?? none)
    })
  }
})

/** How templates get new versions. */
export class TemplateVersionCreation extends Context.Tag("@atelier/core/TemplateVersionCreation")<
  TemplateVersionCreation,
  TemplateVersionCreationService
>() {
  static readonly layer = standingOn(
    service(TemplateVersionCreation, make),
    ProvisionerJobs.layer,
    Files.layer,
    Organizations.layer,
    SourceTags.layer
  )
}
