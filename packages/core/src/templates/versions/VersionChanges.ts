import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { Forbidden, Invalid } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { missingTemplate } from "../Template.js"
import { templateSubject } from "../TemplateAudit.js"
import { activeVersionChanges } from "../TemplateEvents.js"
import type { TemplateRepository } from "../TemplateRepository.js"
import { messageViolation, type TemplateVersionId, versionNameViolation } from "./TemplateVersion.js"
import type { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { missingVersion as missing } from "./VisibleVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { VersionAccess } from "./VersionAccess.js"

interface Needs extends Pick<VersionAccess, "loadForUpdate" | "viewOf" | "liveTemplate" | "jobOf"> {
  readonly repository: TemplateVersionRepository["Type"]
  readonly jobs: ProvisionerJobs["Type"]
  readonly templates: TemplateRepository["Type"]
}

/** Changes of a version: its name and message, the end of its import, and its becoming the active one. */
export const versionChanges = ({ loadForUpdate, repository, viewOf, jobs, liveTemplate, jobOf, templates }: Needs) => ({
  update: Traced.fn("TemplateVersions.update")(function* (
    id: TemplateVersionId,
    change: { readonly name: string; readonly message?: string | undefined }
  ) {
    yield* loadForUpdate(id)
    const { message, name } = change
    const nameViolation = name === "" ? undefined : versionNameViolation(name)
    if (nameViolation !== undefined) return yield* Invalid.field("name", nameViolation)
    const tooLong = message === undefined ? undefined : messageViolation(message)
    if (tooLong !== undefined) return yield* Invalid.field("message", tooLong)
    // What the caller leaves out may be changed by another at the same time
    const given = { ...(name === "" ? {} : { name }), ...(message === undefined ? {} : { message }) }
    yield* Effect.mapError(repository.describe(id, { ...given, updated_at: yield* Timestamp.now }), () =>
      Invalid.field("name", "is taken", "Another version of the template has the name.")
    )
    return yield* viewOf(yield* loadForUpdate(id))
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
        return { value: undefined, before, after }
      })
    )
  })
})
