import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import * as Audit from "../audit/Audit.js"
import { Entitlements } from "../deployment/licenses/Entitlements.js"
import { OrganizationChangeRepository } from "../organizations/OrganizationChangeRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { Invalid, NotFound, refuseViolations, type Forbidden, type Conflict } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction } from "../platform/store/Transactor.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { ProvisionerJobRepository } from "../provisioning/jobs/ProvisionerJobRepository.js"
import { noBuildTimeStats, takenTemplate, type Template } from "./Template.js"
import { everyoneMayUse } from "./sharing/TemplateAcl.js"
import { templateSubject, versionSubject } from "./TemplateAudit.js"
import { TemplateRepository } from "./TemplateRepository.js"
import { newTemplateSettings, type NewTemplateSettings } from "./settings/TemplateSettings.js"
import { newTemplateViolations } from "./settings/TemplateSettingsRules.js"
import { TemplateVersionRepository } from "./versions/TemplateVersionRepository.js"
import { viewInForce, type TemplateView } from "./TemplateView.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"

/** The fields of a new template. */
export interface NewTemplate extends NewTemplateSettings {
  readonly template_version_id: Uuid
}

/** The methods of {@link TemplateCreation}. */
export interface TemplateCreationService {
  /**
   * Makes a template of an imported version, which becomes its active one; members of the organization may use it unless the caller
   * says otherwise. Fails with `Conflict` when the name is taken. templates-and-provisioning.md §2.2.
   */
  readonly create: (
    organization: string,
    settings: NewTemplate
  ) => Effect.Effect<TemplateView, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const jobs = yield* ProvisionerJobRepository
  const organizations = yield* Organizations
  const { lockShared } = yield* OrganizationChangeRepository
  const ids = yield* Ids

  const field = "template_version_id"

  /** The version that a template is created from, of the same organization, if the actor may see it. */
  const visibleVersion = (organizationId: Uuid, id: Uuid) =>
    Effect.gen(function* () {
      const unknown = new NotFound({
        message: "Template version does not exist.",
        validations: [{ field, detail: "does not name a template version" }]
      })
      const version = Option.getOrUndefined(yield* versions.byId(id))
      if (version === undefined || version.organization_id !== organizationId) return yield* unknown
      if (version.template_id !== null) {
        const owner = yield* templates.byId(version.template_id)
        yield* Access.visible(Option.getOrUndefined(owner), AccessObjects.template, unknown)
      } else {
        yield* Access.readable(AccessObjects.inOrganization("template", organizationId), unknown)
      }
      return version
    })

  return {
    create: Traced.fn("TemplateCreation.create")(function* (organization: string, settings: NewTemplate) {
      const { id: organization_id } = yield* organizations.get(organization)
      const features = yield* Entitlements
      const object = AccessObjects.inOrganization("template", organization_id)
      // A member without the permission learns nothing of versions it cannot see
      if (!(yield* Access.can("create", object))) yield* visibleVersion(organization_id, settings.template_version_id)
      yield* Access.authorize("create", object)
      yield* refuseViolations(newTemplateViolations(settings, features), true)
      const name = settings.name ?? ""
      if (Option.isSome(yield* templates.byName(organization_id, name))) return yield* takenTemplate(name)
      const version = yield* visibleVersion(organization_id, settings.template_version_id)
      if (version.template_id !== null) return yield* Invalid.field(field, "is a version of another template")
      if (version.archived) return yield* Invalid.field(field, "is archived")
      const job = yield* Effect.flatMap(jobs.byId(version.job_id), Effect.orDie)
      const { userId } = yield* CurrentActor
      const { success: status_code } = yield* Audit.AuditStatus
      const now = yield* Timestamp.now
      const template: Template = {
        ...newTemplateSettings(settings, features),
        id: yield* ids.next,
        created_at: now,
        updated_at: now,
        organization_id,
        deleted: false,
        provisioner: job.provisioner,
        active_version_id: version.id,
        created_by: userId,
        user_acl: {},
        group_acl: settings.disable_everyone_group_access ? {} : everyoneMayUse(organization_id),
        active_user_count: 0,
        build_time_stats: noBuildTimeStats
      }
      yield* transaction(
        Effect.gen(function* () {
          if (!(yield* lockShared(organization_id))) return yield* new NotFound({ resource: "organization" })
          yield* templates.insert(template)
          if (!(yield* versions.attach(version.id, template.id, now))) {
            return yield* Invalid.field(field, "is a version of another template, or archived")
          }
          yield* Audit.record({
            ...templateSubject(template, "create"),
            status_code,
            after: template
          })
          yield* Audit.record({
            ...versionSubject(version, "write"),
            status_code,
            before: version,
            after: { ...version, template_id: template.id }
          })
        })
      ).pipe(Effect.catchTag("Duplicate", () => takenTemplate(template.name)))
      return yield* viewInForce(yield* Effect.flatMap(templates.byId(template.id), Effect.orDie))
    })
  }
})

/** How templates come to be. */
export class TemplateCreation extends Context.Tag("@atelier/core/TemplateCreation")<TemplateCreation, TemplateCreationService>() {
  static readonly layer = standingOn(service(TemplateCreation, make), Organizations.layer)
}
