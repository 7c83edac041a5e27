import { Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { Conflict, Invalid } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { missingTemplate } from "../Template.js"
import { templateSubject, versionSubject } from "../TemplateAudit.js"
import type { TemplateRepository } from "../TemplateRepository.js"
import type { TemplateVersionId } from "./TemplateVersion.js"
import type { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { VersionAccess } from "./VersionAccess.js"

interface Needs extends Pick<VersionAccess, "loadForUpdate" | "liveTemplate"> {
  readonly templates: TemplateRepository["Type"]
  readonly repository: TemplateVersionRepository["Type"]
}

/** The archive of versions that no workspace uses. templates-and-provisioning.md §3.5. */
export const versionArchive = ({ loadForUpdate, templates, repository, liveTemplate }: Needs) => ({
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
        return { value: undefined, before: version, after: { ...version, archived: true } }
      })
    )
  }),

  unarchive: Traced.fn("TemplateVersions.unarchive")(function* (id: TemplateVersionId) {
    const version = yield* loadForUpdate(id)
    yield* Audit.audited(
      versionSubject(version, "write"),
      Effect.gen(function* () {
        if (version.template_id === null) return yield* new Invalid({ message: "Cannot unarchive a template version without a template." })
        if (!(yield* repository.unarchive(id, yield* Timestamp.now))) {
          return yield* new Invalid({ message: "Template version is not archived." })
        }
        return { value: undefined, before: version, after: { ...version, archived: false } }
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
        return { value, before: template, after: template }
      })
    )
  })
})
