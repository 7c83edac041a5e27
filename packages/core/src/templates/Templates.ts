import { Context, Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import * as Audit from "../audit/Audit.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../deployment/licenses/Entitlements.js"
import { Organizations } from "../organizations/Organizations.js"
import { Invalid, refuseViolations, type NotFound, type Forbidden, type Conflict } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { ScheduledWorkspaces } from "./settings/ScheduledWorkspaces.js"
import { type StarterTemplate, StarterTemplates } from "./builder/StarterTemplates.js"
import { missingTemplate, takenTemplate, type TemplateId } from "./Template.js"
import { templateSubject } from "./TemplateAudit.js"
import { TemplateRepository } from "./TemplateRepository.js"
import { TemplateNotifications } from "./TemplateNotifications.js"
import { changedTemplate, type ChangedTemplateSettings, changesSchedule } from "./settings/TemplateSettings.js"
import { changedTemplateViolations } from "./settings/TemplateSettingsRules.js"
import { viewInForce, type TemplateView } from "./TemplateView.js"
import { visibleTemplate } from "./VisibleTemplate.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"
import { templateListing } from "./TemplateListing.js"

/** The starter templates as they are listed. */
const starters = Effect.zipWith(StarterTemplates, DeploymentOptions, (templates, { accessUrl }) =>
  templates.map((template) => ({ ...template, url: template.url ?? `${accessUrl}/api/v2/templates/examples` }))
)

/** A change of a template; the two flags move its workspaces once. */
export interface TemplateChange extends ChangedTemplateSettings {
  readonly update_workspace_last_used_at?: boolean | undefined
  readonly update_workspace_dormant_at?: boolean | undefined
}

/** The methods of {@link Templates}. */
export interface TemplatesService {
  /** A template by id. Deleted ones are not found. */
  readonly get: (id: TemplateId) => Effect.Effect<TemplateView, NotFound, CurrentActor>

  /** A template of an organization by name, without regard to case. */
  readonly getByName: (organization: string, name: string) => Effect.Effect<TemplateView, NotFound, CurrentActor>

  /**
   * The templates that the actor may read and a query finds, those with the most active users first. Deprecated and deleted ones are
   * found only if the query asks for them. Fails with `Invalid` for an invalid query. templates-and-provisioning.md §2.4.
   */
  readonly list: (query: string) => Effect.Effect<ReadonlyArray<TemplateView>, Invalid, CurrentActor>

  /** As `list`, in one organization. */
  readonly listInOrganization: (
    organization: string,
    query: string
  ) => Effect.Effect<ReadonlyArray<TemplateView>, Invalid | NotFound, CurrentActor>

  /** Changes a template's settings; absent ones stay. Fails with `Conflict` when the name is taken. templates-and-provisioning.md §2.3. */
  readonly update: (
    id: TemplateId,
    change: TemplateChange
  ) => Effect.Effect<TemplateView, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Deletes a template that has no workspaces; its versions stay. Fails with `Invalid` when it has some. templates-and-provisioning.md §2.4. */
  readonly delete: (id: TemplateId) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** The starter templates, for actors who may read templates somewhere. templates-and-provisioning.md §2.4. */
  readonly examples: () => Effect.Effect<ReadonlyArray<Required<StarterTemplate>>, NotFound, CurrentActor>

  /** The starter templates, for actors who may read templates of an organization. */
  readonly examplesInOrganization: (organization: string) => Effect.Effect<ReadonlyArray<Required<StarterTemplate>>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* TemplateRepository
  const organizations = yield* Organizations
  const workspaces = yield* ScheduledWorkspaces
  const notifications = yield* TemplateNotifications

  /** A template that is not deleted, as it is stored. */
  const load = (id: TemplateId) => Effect.flatMap(repository.byId(id), visibleTemplate)

  const { list } = templateListing({ repository, organizations })

  return {
    get: Traced.fn("Templates.get")(function* (id: TemplateId) {
      return yield* viewInForce(yield* load(id))
    }),

    getByName: Traced.fn("Templates.getByName")(function* (organization: string, name: string) {
      const { id } = yield* organizations.get(organization)
      return yield* viewInForce(yield* Effect.flatMap(repository.byName(id, name), visibleTemplate))
    }),

    list: Traced.fn("Templates.list")(function* (query: string) {
      return yield* list(query)
    }),

    listInOrganization: Traced.fn("Templates.listInOrganization")(function* (organization: string, query: string) {
      const { id } = yield* organizations.get(organization)
      return yield* list(query, id)
    }),

    update: Traced.fn("Templates.update")(function* (id: TemplateId, change: TemplateChange) {
      const found = yield* load(id)
      const features = yield* Entitlements
      return yield* Audit.audited(
        templateSubject(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorize("update", AccessObjects.template(found))
          const before = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missingTemplate)
          yield* refuseViolations(changedTemplateViolations(before, change, features))
          const now = yield* Timestamp.now
          const after = { ...changedTemplate(before, change, features), updated_at: now }
          yield* Effect.mapError(repository.update(after), () => takenTemplate(after.name))
          if (features.has("advanced_template_scheduling") && changesSchedule(before, after)) {
            const endsLater = !after.allow_user_autostop && (before.allow_user_autostop || before.default_ttl_ms !== after.default_ttl_ms)
            yield* repository.reschedule(id, {
              ttl_ms: endsLater ? after.default_ttl_ms || null : undefined,
              last_used_at: change.update_workspace_last_used_at ? now : undefined,
              dormant_at: change.update_workspace_dormant_at ? now : undefined,
              time_til_deletion_ms: after.time_til_dormant_autodelete_ms || null
            })
            yield* workspaces.scheduleChanged(before, after)
          }
          if (after.deprecated !== "" && after.deprecated !== before.deprecated) yield* notifications.deprecated(after)
          if (before.max_port_share_level !== after.max_port_share_level) {
            yield* repository.limitPortShares(id, after.max_port_share_level)
          }
          return { value: yield* viewInForce(after), before, after }
        })
      )
    }),

    delete: Traced.fn("Templates.delete")(function* (id: TemplateId) {
      const found = yield* load(id)
      yield* Audit.audited(
        templateSubject(found, "delete"),
        Effect.gen(function* () {
          yield* Access.authorize("delete", AccessObjects.template(found))
          const template = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missingTemplate)
          if (yield* repository.hasWorkspaces(id)) {
            return yield* new Invalid({ message: "All workspaces must be deleted before a template can be removed." })
          }
          yield* repository.markDeleted(id, yield* Timestamp.now)
          yield* notifications.deleted(template)
          return { value: undefined, before: template }
        })
      )
    }),

    examples: Traced.fn("Templates.examples")(function* () {
      yield* Access.authorizeOrHide("read", { type: "template", anyOrg: true })
      return yield* starters
    }),

    examplesInOrganization: Traced.fn("Templates.examplesInOrganization")(function* (organization: string) {
      const { id } = yield* organizations.get(organization)
      yield* Access.authorizeOrHide("read", AccessObjects.inOrganization("template", id))
      return yield* starters
    })
  }
})

/** Templates, from which workspaces are created. */
export class Templates extends Context.Tag("@atelier/core/Templates")<Templates, TemplatesService>() {
  static readonly layer = standingOn(service(Templates, make), Organizations.layer, TemplateNotifications.layer)
}
