/** Statements that one request each runs, over HTTP on one database: here on both. */
import { listPredicate, sessionActor } from "@atelier/core/access"
import { AgentRepository, BuildResourceRepository } from "@atelier/core/agents"
import { AiProviderRepository } from "@atelier/core/ai"
import { LicenseCounts, LicenseRepository, WorkspaceProxyRepository } from "@atelier/core/deployment"
import { UserRepository } from "@atelier/core/identity"
import { MetricsRepository } from "@atelier/core/insights"
import { ConnectionLogRepository } from "@atelier/core/logs"
import { AgentLinkRepository } from "@atelier/core/network"
import { InboxRepository, NotificationRepository, PushSubscriptionRepository } from "@atelier/core/notifications"
import { type OAuth2App, OAuth2AppRepository } from "@atelier/core/oauth2"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, Transactor } from "@atelier/core/platform"
import { JobQueueRepository, ProvisionerKeyRepository } from "@atelier/core/provisioning"
import { type TemplateFilter, TemplateRepository, TemplateVersionRepository } from "@atelier/core/templates"
import { PortShareRepository, WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { aUser, anOrganization } from "../../../test/records/builders.js"
import { databases } from "../../../test/store/databases.js"
import { runtime } from "../../../test/store/services.js"
import { storedTemplate, storedVersion, storedWorkspace } from "../../../test/records/workspaces.js"

/** A user and an organization, both stored. */
const people = Effect.gen(function* () {
  const user = yield* aUser()
  const organization = yield* anOrganization()
  yield* (yield* UserRepository).insert(user, null)
  yield* (yield* OrganizationRepository).insert(organization)
  return { user, organization }
})

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`a statement of a single request on ${name}`, (it) => {
    it.effect("finds nothing in an empty store", () =>
      Effect.gen(function* () {
        const id = yield* (yield* Ids).next
        const now = yield* Timestamp.now
        const { subject } = sessionActor({ userId: id, siteRoles: ["auditor"], memberships: [] })
        const connections = { readable: listPredicate(subject, "read", "connection_log"), filter: {} }
        const logs = yield* ConnectionLogRepository
        const keys = yield* ProvisionerKeyRepository
        const counts = yield* LicenseCounts
        const lists = Effect.all([
          (yield* AgentLinkRepository).holders(id, id, now),
          (yield* BuildResourceRepository).agentsOfInstance("i-1"),
          (yield* MetricsRepository).reports(now, 10),
          logs.page({ ...connections, limit: 10, offset: 0 }),
          keys.list(id)
        ])
        expect(yield* lists).toStrictEqual([[], [], [], [], []])
        expect(yield* Effect.all([logs.count(connections, 10), counts.activeUsers, counts.managedAgents(now, now)])).toStrictEqual([
          0, 0, 0
        ])
        expect(yield* counts.externalAgentTemplates).toBe(0)
        expect(yield* (yield* AgentRepository).claimOf(id)).toStrictEqual(Option.none())
        expect(yield* (yield* PortShareRepository).delete({ workspace_id: id, agent_name: "main", port: 80 })).toBe(false)
        yield* (yield* JobQueueRepository).endLeases(now)
        yield* (yield* JobQueueRepository).shortenLeases(now)
        yield* (yield* InboxRepository).markAllRead(id, now)
        yield* (yield* PushSubscriptionRepository).deleteAll
        yield* (yield* WorkspaceProxyRepository).setSecret(id, new Uint8Array(32))
        yield* (yield* NotificationRepository).setMethod(id, "smtp")
      })
    )

    it.effect("pauses the notifier", () =>
      Effect.gen(function* () {
        const notifications = yield* NotificationRepository
        const transactor = yield* Transactor
        const pause = Effect.tap(notifications.lockPaused, notifications.setPaused(true))
        expect(yield* transactor.atomically(pause)).toStrictEqual(Option.none())
        expect(yield* notifications.isPaused).toStrictEqual(Option.some(true))
      })
    )

    it.effect("stores, lists, changes and removes what administrators make", () =>
      Effect.gen(function* () {
        const [id, uuid] = [yield* (yield* Ids).next, yield* (yield* Ids).next]
        const now = yield* Timestamp.now
        const times = { created_at: now, updated_at: now }

        const licenses = yield* LicenseRepository
        const license = yield* licenses.insert({ uuid, uploaded_at: now, exp: now, token: "signed" }, new Uint8Array([1]))
        expect(license).toMatchObject({ uuid, token: "signed" })
        expect(yield* licenses.remove(license.id)).toStrictEqual(Option.some(license))
        expect(yield* licenses.remove(license.id)).toStrictEqual(Option.none())

        const providers = yield* AiProviderRepository
        const secrets = { key_id: "k", ciphertext: new Uint8Array([1]) }
        const provider = { id, type: "openai", name: "one", display_name: "", icon: "", enabled: true, base_url: "", ...times, secrets }
        yield* providers.insert(provider)
        yield* providers.update({ ...provider, enabled: false })
        expect(yield* providers.list).toMatchObject([{ id, enabled: false }])

        const apps = yield* OAuth2AppRepository
        const app: OAuth2App = {
          id,
          ...times,
          name: "app",
          icon: "",
          redirect_uris: ["https://app.example.com"],
          client_type: "public",
          dynamically_registered: true,
          token_endpoint_auth_method: "none",
          grant_types: [],
          response_types: [],
          metadata: {},
          last_used_at: null
        }
        yield* apps.insert(app, new Uint8Array([2]))
        yield* apps.update({ ...app, name: "other" })
        expect(yield* apps.list).toStrictEqual([{ ...app, name: "other" }])
        expect(yield* apps.countUnused(10)).toBe(1)
        expect(Option.map(yield* apps.hashedRegistrationToken(id), (hash) => [...hash])).toStrictEqual(Option.some([2]))
        yield* apps.setRegistrationEnabled(false)
        expect(yield* apps.registrationEnabled).toStrictEqual(Option.some(false))
      })
    )

    it.effect("finds a template's versions by name, by id and by their order, and takes one back", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const versions = yield* TemplateVersionRepository
        const now = yield* Timestamp.now
        const author = { organization_id: organization.id, created_by: user.id }
        const template = yield* storedTemplate(author, { name: "first" })
        const second = yield* storedVersion({
          ...author,
          template_id: template.id,
          name: "second",
          created_at: Timestamp.plus(now, "1 minute")
        })
        const namesOf = Option.map((found: ReadonlyArray<{ readonly name: string }>) => found.map((version) => version.name))
        const listed = (includeArchived: boolean) =>
          Effect.map(versions.list(template.id, { limit: 0, offset: 0 }, includeArchived), namesOf)

        expect(Option.map(yield* versions.byName(template.id, "second"), ({ id }) => id)).toStrictEqual(Option.some(second.id))
        expect(Option.map(yield* versions.previous(second), (version) => version.name)).toStrictEqual(Option.some("first"))
        expect((yield* versions.byIds([second.id])).map((version) => version.name)).toStrictEqual(["second"])
        expect((yield* (yield* TemplateRepository).byIds([template.id])).map(({ id }) => id)).toStrictEqual([template.id])
        expect(yield* versions.archive(template.id, { id: second.id, failedOnly: false }, now)).toStrictEqual([second.id])
        expect(yield* listed(false)).toStrictEqual(Option.some(["first"]))
        expect(yield* versions.unarchive(second.id, now)).toBe(true)
        expect(yield* listed(true)).toStrictEqual(Option.some(["first", "second"]))
      })
    )

    it.effect("finds templates by what their names are and contain, and by what their versions need", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const author = { organization_id: organization.id, created_by: user.id }
        yield* storedTemplate({ ...author, name: "tasks-of-ai", display_name: "Tasks of AI" }, { has_ai_task: true })
        yield* storedTemplate({ ...author, name: "plain", display_name: "Plain" })
        const { subject } = sessionActor({ userId: user.id, siteRoles: ["owner"], memberships: [] })
        const templates = yield* TemplateRepository
        const found = (filter: Omit<TemplateFilter, "deleted">) =>
          Effect.map(
            templates.list({ ...filter, deleted: false, organization_id: organization.id }, listPredicate(subject, "read", "template")),
            (list) => list.map(({ name }) => name)
          )
        expect(yield* found({ display_name: "of ai" })).toStrictEqual(["tasks-of-ai"])
        expect(yield* found({ exact_name: "plain" })).toStrictEqual(["plain"])
        expect(yield* found({ exact_display_name: "Tasks of AI" })).toStrictEqual(["tasks-of-ai"])
        expect(yield* found({ has_ai_task: true })).toStrictEqual(["tasks-of-ai"])
        expect(yield* found({ has_ai_task: false })).toStrictEqual(["plain"])
      })
    )

    it.effect("archives the failed versions of a template, or all that are not in use", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const author = { organization_id: organization.id, created_by: user.id }
        const template = yield* storedTemplate(author)
        const good = yield* storedVersion({ ...author, template_id: template.id })
        const failed = yield* storedVersion({ ...author, template_id: template.id }, { error: "no plan" })
        const versions = yield* TemplateVersionRepository
        const now = yield* Timestamp.now
        expect(yield* versions.archive(template.id, { failedOnly: true }, now)).toStrictEqual([failed.id])
        expect(yield* versions.archive(template.id, { failedOnly: false }, now)).toStrictEqual([good.id])
      })
    )

    it.effect("continues an inbox behind one of its notifications", () =>
      Effect.gen(function* () {
        const { user } = yield* people
        const inbox = yield* InboxRepository
        const now = yield* Timestamp.now
        const ids = yield* Effect.replicateEffect((yield* Ids).next, 3)
        const content = { template_id: ids[0] ?? user.id, targets: [user.id], title: "a title", content: "", actions: [], read_at: null }
        for (const [minutes, id] of ids.entries()) {
          yield* inbox.insert({ ...content, id, user_id: user.id, created_at: Timestamp.plus(now, `${minutes} minutes`) })
        }
        const filter = { targets: [user.id], templates: [content.template_id], read_status: "unread" } as const
        const page = yield* inbox.page(user.id, filter, { starting_before: ids[2], limit: 5 })
        expect(page.map(({ id }) => id)).toStrictEqual([ids[1], ids[0]])
      })
    )

    it.effect("writes when workspaces start next", () =>
      Effect.gen(function* () {
        const { organization, user } = yield* people
        const workspaces = yield* WorkspaceRepository
        const next_start_at = Timestamp.plus(yield* Timestamp.now, "1 hour")
        const template = yield* storedTemplate({ organization_id: organization.id, created_by: user.id })
        const { workspace } = yield* storedWorkspace(template, user.id)
        yield* workspaces.setNextStarts([{ id: workspace.id, next_start_at }])
        expect(Option.map(yield* workspaces.byId(workspace.id), (stored) => stored.next_start_at)).toStrictEqual(Option.some(next_start_at))
      })
    )
  })
}
