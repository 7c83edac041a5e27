import { AuditEntry } from "@atelier/core/audit"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { type Template, TemplateRepository, TemplateView } from "@atelier/core/templates"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect, Option, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { prebuildsUser } from "../../../../test/records/jobs.js"
import { describeServer, describeServerOnEach } from "../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../test/http/templates.js"
import { storedBuild, storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { aUser } from "../../../../test/records/builders.js"
import { UserRepository } from "@atelier/core/identity"

const aStoredTemplate = (ownerId: Uuid.Uuid, fields: Partial<Template> = {}) =>
  Effect.gen(function* () {
    const organization = yield* Effect.flatMap(OrganizationRepository, (repository) => Effect.flatten(repository.default))
    return yield* storedTemplate({ organization_id: organization.id, created_by: ownerId, ...fields })
  })

describeServerOnEach(
  "a template's workspaces",
  (server, once) => {
    const call = (method: "GET" | "PATCH" | "DELETE" | "POST", path: string, body?: object) =>
      server().call(method, path, body === undefined ? { token: server().owner().token } : { token: server().owner().token, body })

    once("prevent its deletion, except unclaimed prebuilt ones", async () => {
      const { id: ownerId } = server().owner().user
      const { template, workspace } = await server().run(
        Effect.gen(function* () {
          const users = yield* UserRepository
          const template = yield* aStoredTemplate(ownerId)
          const { workspace } = yield* storedWorkspace(template, ownerId)
          yield* Effect.ignore(users.insert(yield* aUser({ id: prebuildsUser, is_system: true }), null))
          yield* storedWorkspace(template, prebuildsUser)
          return { template, workspace }
        })
      )
      expect((await call("DELETE", `/templates/${template.id}`)).status).toBe(400)
      expect((await call("GET", `/templates/${template.id}`)).status).toBe(200)
      await server().run(
        Effect.flatMap(WorkspaceRepository, ({ markDeleted }) => Effect.flatMap(Timestamp.now, (at) => markDeleted(workspace.id, at)))
      )
      expect((await call("DELETE", `/templates/${template.id}`)).status).toBe(200)
    })

    it("are created concurrently, or it is deleted, but never both", async () => {
      for (let round = 0; round < 4; round++) {
        const { id } = await aTemplate(server())
        const create = (name: string) => call("POST", "/users/me/workspaces", { template_id: id, name: `race-${round}-${name}` })
        const [first, deletion, second] = await Promise.all([create("a"), call("DELETE", `/templates/${id}`), create("b")])
        const made = [first, second].map(({ status }) => status)
        // A creation that begins after the deletion does not even find the template
        for (const status of made) expect([201, 400, 404]).toContain(status)
        expect([made.includes(201), deletion.status]).toStrictEqual(made.includes(201) ? [true, 400] : [false, 200])
      }
    })

    once("are counted by their owners, and their builds timed", async () => {
      const { id: ownerId } = server().owner().user
      const other = (await server().aMember()).user.id
      const at = (millis: number) => Timestamp.fromMillis(1_800_000_000_000 + millis)
      const template = await server().run(
        Effect.gen(function* () {
          const template = yield* aStoredTemplate(ownerId, { name: "timed" })
          const { workspace } = yield* storedWorkspace(template, ownerId, { job: { started_at: at(0), completed_at: at(1_000) } })
          yield* storedWorkspace(template, ownerId, { job: { started_at: at(0), completed_at: at(2_000) } })
          yield* storedWorkspace(template, other, { job: { started_at: at(0), completed_at: at(4_000) } })
          yield* storedWorkspace(template, other, {
            workspace: { deleted: true },
            job: { error: "failed", started_at: at(0), completed_at: at(60_000) }
          })
          yield* storedBuild(
            workspace,
            { template_version_id: template.active_version_id, build_number: 2, transition: "stop" },
            { started_at: at(0), completed_at: at(250) }
          )
          yield* Effect.flatMap(TemplateRepository, ({ refreshStatistics }) => refreshStatistics)
          return template
        })
      )
      expect((await call("GET", `/templates/${template.id}`)).as(TemplateView)).toMatchObject({
        active_user_count: 2,
        build_time_stats: {
          start: { P50: 2_000, P95: 4_000 },
          stop: { P50: 250, P95: 250 },
          delete: { P50: null, P95: null }
        }
      })
      // Under the documented names too
      expect((await call("GET", `/templates/${template.id}`)).body).toMatchObject({
        build_time_stats: { start: { p50: 2_000, p95: 4_000 } }
      })
      // The busiest template comes first
      const [first] = (await call("GET", "/templates")).as(Schema.Array(TemplateView))
      expect(first?.id).toBe(template.id)
    })

    once("and their templates' makers and changes are in the audit log", async () => {
      const version = await anImportedVersion(server())
      const { id } = (await call("POST", "/organizations/default/templates", { name: "audited", template_version_id: version.id })).as(
        TemplateView
      )
      await call("PATCH", `/templates/${id}`, { default_ttl_ms: 1_000, icon: "/a.png" })
      await call("PATCH", `/templates/${id}`, { name: "new" })
      const next = await anImportedVersion(server(), {}, { template_id: id })
      await call("PATCH", `/templates/${id}/versions`, { id: next.id })
      await call("DELETE", `/templates/${id}`)
      const summary = (entries: ReadonlyArray<AuditEntry>) =>
        entries.map(({ action, diff, resource_target, status_code }) => [action, resource_target, status_code, Object.keys(diff)])
      const entries = await server().run(auditEntries({ resource_id: id }))
      expect(summary(entries).slice(1)).toStrictEqual([
        ["write", "audited", 200, ["icon", "default_ttl"]],
        ["write", "audited", 400, []],
        ["write", "audited", 200, ["active_version_id"]],
        ["delete", "audited", 200, expect.arrayContaining(["name", "active_version_id"])]
      ])
      expect(entries[0]).toMatchObject({ action: "create", status_code: 201, diff: { name: { old: "", new: "audited", secret: false } } })
      expect(entries[1]?.diff["default_ttl"]).toStrictEqual({ old: 0, new: 1_000_000_000, secret: false })
      const ofVersion = await server().run(auditEntries({ resource_id: version.id }))
      expect(summary(ofVersion)).toStrictEqual([
        ["create", version.name, 201, expect.arrayContaining(["name"])],
        ["write", version.name, 201, ["template_id"]]
      ])
      expect(ofVersion[1]?.diff["template_id"]).toStrictEqual({ old: "null", new: id, secret: false })
    })
  },
  { provisioner: testEngines }
)

describeServer(
  "licensed templates",
  (server) => {
    const call = (method: "GET" | "PATCH" | "POST", path: string, body?: object) =>
      server().call(method, path, body === undefined ? { token: server().owner().token } : { token: server().owner().token, body })
    const change = async (id: string, body: object) => (await call("PATCH", `/templates/${id}`, body)).as(TemplateView)

    it("that are deprecated are found on request", async () => {
      const { id } = await aTemplate(server())
      expect(await change(id, { deprecation_message: "use the other one" })).toMatchObject({
        deprecated: true,
        deprecation_message: "use the other one"
      })
      const ids = async (query: string) =>
        (await call("GET", `/templates${query}`)).as(Schema.Array(TemplateView)).map((template) => template.id)
      expect(await ids("")).not.toContain(id)
      expect(await ids("?q=deprecated:true")).toStrictEqual([id])
      expect((await call("GET", `/templates/${id}`)).status).toBe(200)
      expect(await change(id, { deprecation_message: "" })).toMatchObject({ deprecated: false })
      expect(await ids("")).toContain(id)
    })

    it("have schedules, which may have an empty list of days", async () => {
      const { id } = await aTemplate(server())
      const changed = await change(id, {
        autostart_requirement: { days_of_week: [] },
        autostop_requirement: { days_of_week: ["saturday"], weeks: 0 },
        failure_ttl_ms: 60_000,
        allow_user_autostop: false,
        require_active_version: true,
        max_port_share_level: "organization"
      })
      expect(changed).toMatchObject({
        autostart_requirement: { days_of_week: [] },
        autostop_requirement: { days_of_week: ["saturday"], weeks: 1 },
        failure_ttl_ms: 60_000,
        allow_user_autostop: false,
        require_active_version: true,
        max_port_share_level: "organization"
      })
    })

    it("move their workspaces when their schedule changes", async () => {
      const { id: ownerId } = server().owner().user
      const dormant = Timestamp.fromMillis(1_700_000_000_123)
      const { idle, template, used } = await server().run(
        Effect.gen(function* () {
          const template = yield* aStoredTemplate(ownerId)
          const { workspace: idle } = yield* storedWorkspace(template, ownerId, {
            workspace: { dormant_at: dormant, ttl_ms: 5_000, last_used_at: dormant }
          })
          const { workspace: used } = yield* storedWorkspace(template, ownerId, { workspace: { ttl_ms: 5_000, last_used_at: dormant } })
          return { template, idle, used }
        })
      )
      const reload = (id: Uuid.Uuid) =>
        server().run(Effect.flatMap(WorkspaceRepository, ({ byId }) => Effect.map(byId(id), Option.getOrThrow)))
      await change(template.id, { time_til_dormant_autodelete_ms: 86_400_001 })
      expect(await reload(idle.id)).toMatchObject({ deleting_at: Timestamp.plus(dormant, 86_400_001), dormant_at: dormant })
      expect(await reload(used.id)).toMatchObject({ deleting_at: null, ttl_ms: 5_000 })
      await change(template.id, { default_ttl_ms: 7_200_000, allow_user_autostop: false, update_workspace_last_used_at: true })
      const moved = await reload(used.id)
      expect(moved.ttl_ms).toBe(7_200_000)
      expect(moved.last_used_at > dormant).toBe(true)
      await change(template.id, { time_til_dormant_autodelete_ms: 0 })
      expect(await reload(idle.id)).toMatchObject({ deleting_at: null })
      await change(template.id, { time_til_dormant_autodelete_ms: 60_000, update_workspace_dormant_at: true })
      const later = await reload(idle.id)
      expect(later.deleting_at).toBe(Timestamp.plus(later.dormant_at ?? Timestamp.never, 60_000))
      expect((later.dormant_at ?? "") > dormant).toBe(true)
      expect((await reload(used.id)).dormant_at).toBeNull()
    })
  },
  { provisioner: testEngines, entitlements: { has: () => true } }
)
