import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import type { Organizations } from "../../organizations/Organizations.js"
import { Forbidden, Invalid, NotFound, type Validation } from "../../platform/Errors.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ExternalAuthRequirements } from "../../externalAuth/ExternalAuthRequirements.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { TemplateVersion } from "../../templates/versions/TemplateVersion.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { awake } from "../lifecycle/Dormancy.js"
import { nextScheduledStart } from "../schedule/NextScheduledStart.js"
import { neverStarts, validAutomaticUpdates, validSchedule, validTtl } from "../Workspace.js"
import type { WorkspaceOwners } from "../WorkspaceOwners.js"
import type { WorkspacePlace, NewWorkspace } from "./WorkspaceCreation.js"

const noUser = new NotFound({ resource: "user" })

const noVersion = Invalid.field("template_version_id", "There is no template version with this id")

const noTemplate = Invalid.field("template_id", "There is no template with this id")

const archivedVersion = Invalid.field("template_version_id", "The template version is archived")

/** Returns the violations of a request by itself. Rules 1 and 2. */
export const requestViolations = ({ name, template_id, template_version_id }: NewWorkspace): ReadonlyArray<Validation> => {
  const detail = "exactly one of template_id and template_version_id has to be given"
  const hasOneSource = (template_id === undefined) !== (template_version_id === undefined)
  const sources = hasOneSource ? [] : ["template_id", "template_version_id"].map((field) => ({ field, detail }))
  const violation = Name.violation(name)
  return violation === undefined ? sources : [...sources, { field: "name", detail: violation }]
}

/** The settings the caller chose. Rules 11 to 13. */
export const settingsOf = (request: NewWorkspace, template: TemplateWithNames) =>
  Effect.gen(function* () {
    const schedule = yield* validSchedule(request.autostart_schedule)
    const ttl_ms = request.ttl_ms === 0 ? template.default_ttl_ms || null : yield* validTtl(request.ttl_ms)
    const automatic_updates = yield* validAutomaticUpdates(request.automatic_updates || "never")
    const now = yield* Timestamp.now
    const scheduled = { ...awake, autostart_schedule: schedule === null ? null : request.autostart_schedule }
    const next_start_at = nextScheduledStart(scheduled, template, now)
    if (schedule !== null && next_start_at === null) return yield* neverStarts
    return {
      ...scheduled,
      next_start_at,
      ttl_ms,
      automatic_updates
    }
  })

interface Needs {
  readonly owners: WorkspaceOwners["Type"]
  readonly organizations: Organizations["Type"]
  readonly versions: TemplateVersionRepository["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly externalAuth: ExternalAuthRequirements["Type"]
}

/** What a request for a workspace means: its owner, template, version and settings. */
export const creationRequest = ({ owners, organizations, versions, templates, externalAuth }: Needs) => {
  const ownerOf = ({ organization, user }: WorkspacePlace) =>
    Effect.gen(function* () {
      if (organization === undefined) return yield* owners.known(user)
      const place = yield* organizations.get(organization)
      const owner = Option.getOrUndefined(yield* owners.find(user))
      if (owner === undefined) return yield* noUser
      yield* owners.requireMember(owner, place.id)
      return owner
    })

  /** The version that is wanted, if one is; without a template it is readable in its organization. Rule 3. */
  const versionOf = (id: Uuid | undefined) =>
    Effect.gen(function* () {
      if (id === undefined) return undefined
      const version = Option.getOrUndefined(yield* versions.byId(id))
      if (version === undefined) return yield* noVersion
      if (version.template_id !== null) return version
      const isReadable = yield* Access.can("read", AccessObjects.inOrganization("template", version.organization_id))
      return yield* isReadable ? noTemplate : noVersion
    })

  /** The template that is wanted, as it is in force. Rules 3 to 6. */
  const templateOf = (request: NewWorkspace) =>
    Effect.gen(function* () {
      const version = yield* versionOf(request.template_version_id)
      const id = version?.template_id ?? request.template_id
      const template = id === undefined ? undefined : Option.getOrUndefined(yield* templates.byId(id))
      if (template === undefined || !(yield* Access.can("read", AccessObjects.template(template)))) {
        return yield* version === undefined ? noTemplate : noVersion
      }
      if (version?.archived === true) return yield* archivedVersion
      if (template.deleted) return yield* new NotFound({ resource: "template" })
      return effectiveTemplate(template, yield* Entitlements)
    })

  /** Rule 10: the owner, not the caller, is signed in to the providers that the version needs. */
  const requireExternalAuth = (versionId: Uuid, ownerId: Uuid) =>
    Effect.gen(function* () {
      const missing = yield* externalAuth.missing(versionId, ownerId)
      if (missing.length === 0) return
      return yield* new Forbidden({
        message: "The owner of the workspace has to sign in to the external authentication providers of the template first.",
        validations: missing.map((detail) => ({ field: "external_auth", detail }))
      })
    })

  /** The actor may use the template, and it is not deprecated. Rules 8 and 9. */
  const requireUsable = (template: TemplateWithNames) =>
    Effect.gen(function* () {
      yield* Access.authorize("use", AccessObjects.template(template))
      if (template.deprecated !== "")
        return yield* new Invalid({ message: `The template "${template.name}" is deprecated.`, detail: template.deprecated })
    })

  /** The template and the version may be used still, which the engine and the host may have taken seconds to prepare and to judge. */
  const requireStillUsable = (locked: TemplateWithNames, { id }: Pick<TemplateVersion, "id">) =>
    Effect.gen(function* () {
      yield* requireUsable(locked)
      // The active version is never archived, and archiving waits for the lock
      if (id !== locked.active_version_id && Option.exists(yield* versions.byId(id), ({ archived }) => archived))
        return yield* archivedVersion
    })

  return { ownerOf, templateOf, requireExternalAuth, requireUsable, requireStillUsable }
}
