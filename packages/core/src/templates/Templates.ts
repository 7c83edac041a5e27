import { Context, Duration, Effect, Layer, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/Actor.js"
import * as Audit from "../audit/Audit.js"
import { diff } from "../audit/Tracked.js"
import { Entitlements } from "../deployment/Entitlements.js"
import { OrganizationChangeRepository } from "../organizations/OrganizationChangeRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { Conflict, Invalid, NotFound } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/Timestamp.js"
import { transaction } from "../platform/Transactor.js"
import type { Uuid } from "../platform/Uuid.js"
import { parse as parseUuid } from "../platform/Uuid.js"
import { ProvisionerJobRepository } from "../provisioning/ProvisionerJobRepository.js"
import { effectiveTemplate } from "./EffectiveTemplate.js"
import { StarterTemplates } from "./StarterTemplates.js"
import { missingTemplate, noBuildTimeStats, type Template, type TemplateId, type TemplateWithNames } from "./Template.js"
import { everyoneMayUse } from "./TemplateAcl.js"
import { auditedTemplate, auditedVersion } from "./TemplateAudit.js"
import { type TemplateFilter, TemplateRepository } from "./TemplateRepository.js"
import { parseTemplateSearch } from "./TemplateSearch.js"
import {
  type ChangedTemplateSettings,
  changedTemplate,
  changedTemplateFlaws,
  changesSchedule,
  newTemplateFlaws,
  type NewTemplateSettings,
  newTemplateSettings
} from "./TemplateSettings.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { type TemplateView, templateView } from "./TemplateView.js"

/** What a new template is made of. */
export interface NewTemplate extends NewTemplateSettings {
  readonly template_version_id: Uuid
}

/** A change of a template; the two flags move its workspaces once. */
export interface TemplateChange extends ChangedTemplateSettings {
  readonly update_workspace_last_used_at?: boolean | undefined
  readonly update_workspace_dormant_at?: boolean | undefined
}

const taken = (name: string): Conflict => Conflict.taken("A template", name)

const refused = (validations: Invalid["validations"] & {}): Invalid => new Invalid({ message: "Validation failed.", validations })

const make = Effect.gen(function* () {
  const repository = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const jobs = yield* ProvisionerJobRepository
  const organizations = yield* Organizations
  const { hold } = yield* OrganizationChangeRepository
  const ids = yield* Ids

  const view = (template: TemplateWithNames): Effect.Effect<TemplateView> =>
    Effect.map(Entitlements, (features) => templateView(effectiveTemplate(template, features)))

  /** A template that is not deleted, as it is stored. */
  const load = (id: TemplateId): Effect.Effect<TemplateWithNames, NotFound, CurrentActor> =>
    Effect.flatMap(repository.byId(id), (found) =>
      Access.visible(Option.getOrUndefined(Option.filter(found, ({ deleted }) => !deleted)), AccessObjects.template, missingTemplate)
    )

  const subjectOf = (template: TemplateWithNames, action: "write" | "delete"): Audit.Subject => ({
    action,
    type: "template",
    id: template.id,
    target: template.name,
    organization_id: template.organization_id
  })

  /** The version a template is to be made from: of the same organization, and nobody's yet. */
  const availableVersion = (organizationId: Uuid, id: Uuid) =>
    Effect.gen(function* () {
      const field = "template_version_id"
      const unknown = new NotFound({
        message: "Template version does not exist.",
        validations: [{ field, detail: "does not name a template version" }]
      })
      const version = Option.getOrUndefined(yield* versions.byId(id))
      if (version === undefined || version.organization_id !== organizationId) return yield* unknown
      if (version.template_id !== null) {
        const owner = yield* repository.byId(version.template_id)
        yield* Access.visible(Option.getOrUndefined(owner), AccessObjects.template, unknown)
        return yield* Invalid.field(field, "is a version of another template")
      }
      yield* Access.readable(AccessObjects.inOrganization("template", organizationId), unknown)
      if (version.archived) return yield* Invalid.field(field, "is archived")
      return version
    })

  const list = (text: string, organizationId?: Uuid) =>
    Effect.gen(function* () {
      const query = yield* parseTemplateSearch(text)
      const { userId } = yield* CurrentActor
      const named = query.organization === undefined ? undefined : yield* organizationNamed(query.organization)
      if (organizationId !== undefined && named !== undefined && named !== organizationId) return []
      const author = query.author === "me" ? { author_id: userId } : { author_id: query.author_id, author_username: query.author }
      const filter: TemplateFilter = {
        ...author,
        organization_id: organizationId ?? named,
        ids: query.ids.length === 0 ? undefined : query.ids,
        exact_name: query.exact_name,
        exact_display_name: query.exact_display_name,
        name: query.name,
        display_name: query.display_name,
        deleted: query.deleted ?? false,
        deprecated: query.deprecated ?? false,
        has_ai_task: query["has-ai-task"],
        has_external_agent: query.has_external_agent,
        agents_allowed: query["agents-allowed"]
      }
      const templates = yield* repository.list(filter, yield* Access.predicate("read", "template"))
      return yield* Effect.forEach(templates, view)
    })

  const organizationNamed = (reference: string) =>
    organizations.get(reference).pipe(
      Effect.map(({ id }) => id),
      Effect.catchTag("NotFound", () =>
        parseUuid(reference) === undefined
          ? Invalid.field("organization", `${JSON.stringify(reference)} names no organization`, "Invalid search query")
          : Effect.succeed(parseUuid(reference))
      )
    )

  return {
    /** A template by id. Deleted ones are not found. */
    get: Effect.fn("Templates.get")(function* (id: TemplateId) {
      return yield* view(yield* load(id))
    }),

    /** A template of an organization by name, without regard to case. */
    getByName: Effect.fn("Templates.getByName")(function* (organization: string, name: string) {
      const { id } = yield* organizations.get(organization)
      const template = yield* repository.byName(id, name)
      return yield* view(yield* Access.visible(Option.getOrUndefined(template), AccessObjects.template, missingTemplate))
    }),

    /**
     * The templates that the actor may read and a query finds, most active users first. Those that are deprecated or deleted are found
     * only when the query asks for them. Fails with `Invalid` for a query that is none. §2.4.
     */
    list: Effect.fn("Templates.list")(function* (query: string) {
      return yield* list(query)
    }),

    /** As `list`, in one organization. */
    listInOrganization: Effect.fn("Templates.listInOrganization")(function* (organization: string, query: string) {
      const { id } = yield* organizations.get(organization)
      return yield* list(query, id)
    }),

    /**
     * Makes a template of an imported version, which becomes its active one; members of the organization may use it unless the caller
     * says otherwise. Fails with `Conflict` when the name is taken. §2.2.
     */
    create: Effect.fn("Templates.create")(function* (organization: string, settings: NewTemplate) {
      const { id: organization_id } = yield* organizations.get(organization)
      yield* Access.authorize("create", AccessObjects.inOrganization("template", organization_id))
      const features = yield* Entitlements
      const flaws = newTemplateFlaws(settings, features)
      if (flaws.length > 0) return yield* refused(flaws)
      const version = yield* availableVersion(organization_id, settings.template_version_id)
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
          if (!(yield* hold(organization_id))) return yield* new NotFound({ resource: "organization" })
          yield* repository.insert(template)
          if (!(yield* versions.attach(version.id, template.id, now))) {
            return yield* Invalid.field("template_version_id", "is a version of another template, or archived")
          }
          yield* Audit.record({
            action: "create",
            type: "template",
            id: template.id,
            target: template.name,
            organization_id,
            status_code,
            diff: diff("template", undefined, auditedTemplate(template))
          })
          yield* Audit.record({
            action: "write",
            type: "template_version",
            id: version.id,
            target: version.name,
            organization_id,
            status_code,
            diff: diff("template_version", auditedVersion(version), auditedVersion({ ...version, template_id: template.id }))
          })
        })
      ).pipe(Effect.catchTag("Duplicate", () => taken(template.name)))
      return yield* view(yield* Effect.flatMap(repository.byId(template.id), Effect.orDie))
    }),

    /** Changes a template's settings; absent ones stay. Fails with `Conflict` when the name is taken. §2.3. */
    update: Effect.fn("Templates.update")(function* (id: TemplateId, change: TemplateChange) {
      const found = yield* load(id)
      const features = yield* Entitlements
      return yield* Audit.audited(
        subjectOf(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorize("update", AccessObjects.template(found))
          const before = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missingTemplate)
          const flaws = changedTemplateFlaws(before, change, features)
          if (flaws.length > 0) return yield* refused(flaws)
          const now = yield* Timestamp.now
          const after = { ...changedTemplate(before, change, features), updated_at: now }
          yield* Effect.mapError(repository.update(after), () => taken(after.name))
          if (features.has("advanced_template_scheduling") && changesSchedule(before, after)) {
            const endsLater = !after.allow_user_autostop && (before.allow_user_autostop || before.default_ttl_ms !== after.default_ttl_ms)
            yield* repository.reschedule(id, {
              ttl_ms: endsLater ? after.default_ttl_ms || null : undefined,
              last_used_at: change.update_workspace_last_used_at ? now : undefined,
              dormant_at: change.update_workspace_dormant_at ? now : undefined,
              time_til_deletion_ms: after.time_til_dormant_autodelete_ms || null
            })
          }
          return { value: yield* view(after), before: auditedTemplate(before), after: auditedTemplate(after) }
        })
      )
    }),

    /** Deletes a template that has no workspaces; its versions stay. Fails with `Invalid` when it has some. §2.4. */
    delete: Effect.fn("Templates.delete")(function* (id: TemplateId) {
      const found = yield* load(id)
      yield* Audit.audited(
        subjectOf(found, "delete"),
        Effect.gen(function* () {
          yield* Access.authorize("delete", AccessObjects.template(found))
          const template = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missingTemplate)
          if (yield* repository.hasWorkspaces(id)) {
            return yield* new Invalid({ message: "All workspaces must be deleted before a template can be removed." })
          }
          yield* repository.markDeleted(id, yield* Timestamp.now)
          return { value: undefined, before: auditedTemplate(template) }
        })
      )
    }),

    /** The starter templates, for actors who may read templates somewhere. §2.4. */
    examples: Effect.fn("Templates.examples")(function* () {
      yield* Access.authorizeOrHide("read", { type: "template", anyOrg: true })
      return yield* StarterTemplates
    }),

    /** The starter templates, for actors who may read templates of an organization. */
    examplesInOrganization: Effect.fn("Templates.examplesInOrganization")(function* (organization: string) {
      const { id } = yield* organizations.get(organization)
      yield* Access.authorizeOrHide("read", AccessObjects.inOrganization("template", id))
      return yield* StarterTemplates
    })
  }
})

/** What workspaces are made from. */
export class Templates extends Context.Tag("@atelier/core/Templates")<Templates, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Templates, make)
}

/** Counts active users and build times of templates. §2.1. */
export const templateStatistics = {
  name: "template_statistics",
  every: Duration.hours(1),
  run: Effect.flatMap(TemplateRepository, ({ refreshStatistics }) => refreshStatistics)
}
