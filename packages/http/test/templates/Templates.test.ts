import { SqlClient } from "@effect/sql"
import { TemplateRepository, type TemplateView, TemplateView as Template } from "@atelier/core/templates"
import { Effect, Option, Schema } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { type Call, describeServerOnEach } from "../../../../test/http/server.js"
import { anImportedVersion, aTemplate, aVersion } from "../../../../test/http/templates.js"

const Refusal = Schema.Struct({
  message: Schema.String,
  detail: Schema.optional(Schema.String),
  validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String, detail: Schema.String })))
})
const Version = Schema.Struct({ id: Schema.String, name: Schema.String })
const Names = Schema.Array(Schema.Struct({ name: Schema.String }))

describeServerOnEach(
  "templates",
  (server, once) => {
    const as = (token: string) => (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown) => {
      const call: Call = body === undefined ? { token } : { token, body }
      return server().call(method, path, call)
    }
    const owner = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown) =>
      as(server().owner().token)(method, path, body)
    const create = (body: object) => owner("POST", "/organizations/default/templates", body)
    const fieldsOf = (answer: { readonly as: <A, I>(schema: Schema.Schema<A, I>) => A }) =>
      (answer.as(Refusal).validations ?? []).map(({ field }) => field)
    const stored = ({ id }: Pick<TemplateView, "id">) =>
      server().run(Effect.flatMap(TemplateRepository, ({ byId }) => Effect.map(byId(id), Option.getOrThrow)))

    once("with only a name and a version have default settings and everyone's access", async () => {
      const version = await anImportedVersion(server())
      const answer = await create({ name: "defaults", template_version_id: version.id })
      expect(answer.status).toBe(201)
      const template = answer.as(Template)
      expect(template).toMatchObject({
        activity_bump_ms: 3_600_000,
        allow_user_cancel_workspace_jobs: false,
        autostart_requirement: { days_of_week: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] },
        autostop_requirement: { days_of_week: [], weeks: 1 },
        use_classic_parameter_flow: false,
        max_port_share_level: "owner",
        active_version_id: version.id,
        created_by_name: "owner",
        organization_name: "default",
        provisioner: "echo",
        active_user_count: 0,
        build_time_stats: { start: { P50: null, P95: null }, stop: { P50: null, P95: null }, delete: { P50: null, P95: null } }
      })
      expect((await stored(template)).group_acl).toStrictEqual({ [template.organization_id]: ["read", "use"] })
      expect((await owner("GET", `/templateversions/${version.id}`)).body).toMatchObject({ template_id: template.id })
    })

    once("have unique names in an organization, in any case", async () => {
      const { id, name } = await aTemplate(server(), {}, { name: "abc" })
      const version = await anImportedVersion(server())
      const taken = await create({ name: "ABC", template_version_id: version.id })
      expect([taken.status, fieldsOf(taken)]).toStrictEqual([409, ["name"]])
      expect(fieldsOf(await create({ name: "new", template_version_id: version.id }))).toStrictEqual(["name"])
      expect((await owner("GET", "/organizations/default/templates/ABC")).body).toMatchObject({ id, name })
      expect((await owner("DELETE", `/templates/${id}`)).status).toBe(200)
      expect((await owner("GET", `/templates/${id}`)).status).toBe(404)
      expect((await create({ name: "ABC", template_version_id: version.id })).status).toBe(201)
    })

    it("are created once from a version by concurrent calls", async () => {
      const version = await anImportedVersion(server())
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, index) => create({ name: `race-${index}`, template_version_id: version.id }))
      )
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 400, 400, 400, 400])
      const refused = answers.find(({ status }) => status === 400)
      expect(refused && fieldsOf(refused)).toStrictEqual(["template_version_id"])
      const unknown = await create({ name: "none", template_version_id: "7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e" })
      expect([unknown.status, fieldsOf(unknown)]).toStrictEqual([404, ["template_version_id"]])
    })

    once("keep absent fields of a change", async () => {
      const before = await aTemplate(server(), {}, { icon: "/icon.png", display_name: "Fine", default_ttl_ms: 1_000 })
      const unchanged = await owner("PATCH", `/templates/${before.id}`, {})
      expect(unchanged.status).toBe(200)
      expect({ ...unchanged.as(Template), updated_at: before.updated_at }).toStrictEqual(before)
      const changed = (await owner("PATCH", `/templates/${before.id}`, { icon: "", default_ttl_ms: 0 })).as(Template)
      expect(changed).toMatchObject({ icon: "", name: before.name, default_ttl_ms: 0, display_name: "Fine" })
    })

    once("refuse changes that break rules, naming each field", async () => {
      const { id } = await aTemplate(server())
      const fields = async (body: object) => fieldsOf(await owner("PATCH", `/templates/${id}`, body))
      expect(await fields({ failure_ttl_ms: 59_999, description: "x".repeat(129) })).toStrictEqual(["description", "failure_ttl_ms"])
      expect(await fields({ cors_behavior: "open" })).toStrictEqual(["cors_behavior"])
      expect(await fields({ name: "" })).toStrictEqual(["name"])
      for (const failure_ttl_ms of [60_000, 0]) {
        expect((await owner("PATCH", `/templates/${id}`, { failure_ttl_ms })).body).toMatchObject({ failure_ttl_ms })
      }
      const other = await aTemplate(server())
      const taken = await owner("PATCH", `/templates/${id}`, { name: other.name.toUpperCase() })
      expect([taken.status, fieldsOf(taken)]).toStrictEqual([409, ["name"]])
    })

    once("are read and used by members, changed and deleted by their administrators", async () => {
      const member = as((await server().aMember()).token)
      const administrator = as((await server().aMember({}, ["organization-template-admin"])).token)
      const { id } = await aTemplate(server())
      expect((await member("GET", `/templates/${id}`)).status).toBe(200)
      expect((await member("PATCH", `/templates/${id}`, { icon: "/x.png" })).status).toBe(403)
      expect((await member("DELETE", `/templates/${id}`)).status).toBe(403)
      expect((await member("POST", "/organizations/default/templates", { name: "mine", template_version_id: id })).status).toBe(404)
      expect((await administrator("PATCH", `/templates/${id}`, { disable_everyone_group_access: true })).status).toBe(200)
      expect((await member("GET", `/templates/${id}`)).status).toBe(404)
      expect((await member("PATCH", `/templates/${id}`, { icon: "/x.png" })).status).toBe(404)
      expect((await member("GET", "/templates")).text).not.toContain(id)
      expect((await administrator("DELETE", `/templates/${id}`)).status).toBe(200)
    })

    once("are found by every filter of a query", async () => {
      const tag = `q${Date.now().toString(36)}`
      const plain = await aTemplate(server(), {}, { name: `${tag}-plain`, display_name: "Foo Bar" })
      const other = await aTemplate(server(), {}, { name: `${tag}-foobar` })
      const found = async (q: string) => (await owner("GET", `/templates?q=${encodeURIComponent(q)}`)).as(Names).map(({ name }) => name)
      expect(await found(`name:${tag}`)).toStrictEqual([other.name, plain.name])
      expect(await found(`exact_name:${tag}-PLAIN`)).toStrictEqual([plain.name])
      // Where there is no display name, the name stands in, without the spaces of the term
      expect(await found(`foo bar name:${tag}`)).toStrictEqual([other.name, plain.name])
      expect(await found(`exact_display_name:"foo bar" name:${tag}`)).toStrictEqual([plain.name])
      expect(await found(`author:me ids:${plain.id}`)).toStrictEqual([plain.name])
      expect(await found(`author:nobody name:${tag}`)).toStrictEqual([])
      expect(await found(`organization:default name:${tag}-p`)).toStrictEqual([plain.name])
      expect(await found(`has-ai-task:true name:${tag}`)).toStrictEqual([])
      for (const [q, field] of [
        ["a:b:c", "q"],
        ["nope:1", "nope"],
        ["organization:nowhere", "organization"]
      ] as const) {
        const refused = await owner("GET", `/templates?q=${encodeURIComponent(q)}`)
        expect([refused.status, fieldsOf(refused)]).toStrictEqual([400, [field]])
      }
      await owner("DELETE", `/templates/${plain.id}`)
      expect(await found(`name:${tag}`)).toStrictEqual([other.name])
      expect(await found(`deleted:true name:${tag}`)).toStrictEqual([plain.name])
    })

    once("have versions that are listed from the oldest on, in pages", async () => {
      const template = await aTemplate(server())
      const second = await anImportedVersion(server(), {}, { template_id: template.id, name: "v2" })
      const third = await anImportedVersion(server(), {}, { template_id: template.id, name: "v3", message: "better" })
      const ids = async (query = "") =>
        (await owner("GET", `/templates/${template.id}/versions${query}`))
          .as(Schema.Array(Schema.Struct({ id: Schema.String })))
          .map(({ id }) => id)
      expect(await ids()).toStrictEqual([template.active_version_id, second.id, third.id])
      expect(await ids("?limit=1&offset=1")).toStrictEqual([second.id])
      expect(await ids(`?after_id=${second.id}`)).toStrictEqual([third.id])
      expect((await owner("GET", `/templates/${template.id}/versions?after_id=${template.id}`)).status).toBe(400)
      expect((await owner("GET", `/templates/${template.id}/versions?include_archived=x`)).status).toBe(400)
      expect((await owner("GET", `/templates/${template.id}/versions/v3`)).body).toMatchObject({ id: third.id, message: "better" })
      const named = `/organizations/default/templates/${template.name.toUpperCase()}/versions/v2`
      expect((await owner("GET", named)).body).toMatchObject({ id: second.id, created_by: { username: "owner" } })
      expect((await owner("GET", `/templates/${template.id}/versions/V3`)).status).toBe(404)
    })

    once("have versions with unique names, generated by default", async () => {
      const template = await aTemplate(server())
      const version = await anImportedVersion(server(), {}, { template_id: template.id })
      expect(version.name).toMatch(/^[a-z]+_[a-z]+\d\d$/)
      const taken = await owner("POST", "/organizations/default/templateversions", {
        storage_method: "file",
        provisioner: "echo",
        file_id: version.job.file_id,
        template_id: template.id,
        name: version.name
      })
      expect([taken.status, fieldsOf(taken)]).toStrictEqual([409, ["name"]])
      const rename = (id: string, body: object) => owner("PATCH", `/templateversions/${id}`, body)
      expect((await rename(version.id, { name: "v2", message: "why" })).body).toMatchObject({ name: "v2", message: "why" })
      expect((await rename(version.id, { name: "" })).body).toMatchObject({ name: "v2", message: "why" })
      expect((await rename(version.id, { name: "", message: "" })).body).toMatchObject({ name: "v2", message: "" })
      const clash = await rename(template.active_version_id, { name: "v2" })
      expect([clash.status, fieldsOf(clash)]).toStrictEqual([400, ["name"]])
    })

    once("have versions that know the one before, with any result of its import", async () => {
      const template = await aTemplate(server())
      const first = (await owner("GET", `/templateversions/${template.active_version_id}`)).as(Version)
      const failed = await anImportedVersion(server(), { fails: "parse" }, { template_id: template.id })
      const last = await anImportedVersion(server(), {}, { template_id: template.id })
      const previous = (name: string, caller = owner) =>
        caller("GET", `/organizations/default/templates/${template.name}/versions/${name}/previous`)
      expect((await previous(last.name)).as(Version)).toStrictEqual({ id: failed.id, name: failed.name })
      expect((await previous(failed.name)).as(Version)).toStrictEqual(first)
      const none = await previous(first.name)
      expect([none.status, none.text]).toStrictEqual([204, ""])
      expect((await previous("missing")).status).toBe(404)
      await owner("PATCH", `/templates/${template.id}/acl`, { group_perms: { [template.organization_id]: "" } })
      const member = as((await server().aMember()).token)
      expect((await previous(last.name, member)).status).toBe(404)
    })

    once("promote versions of theirs that have been imported", async () => {
      const template = await aTemplate(server())
      const promote = (id: string) => owner("PATCH", `/templates/${template.id}/versions`, { id })
      const good = await anImportedVersion(server(), {}, { template_id: template.id })
      expect((await promote(good.id)).status).toBe(200)
      expect((await owner("GET", `/templates/${template.id}`)).body).toMatchObject({ active_version_id: good.id })
      const pending = await aVersion(server(), {}, { template_id: template.id, tags: { nobody: "has this" } })
      const early = await promote(pending.id)
      expect([early.status, early.as(Refusal).detail]).toStrictEqual([403, expect.stringContaining("pending")])
      const failed = await anImportedVersion(server(), { fails: "parse" }, { template_id: template.id })
      expect((await promote(failed.id)).as(Refusal).detail).toContain("failed")
      expect((await promote((await aTemplate(server())).active_version_id)).status).toBe(400)
      const archived = await anImportedVersion(server(), {}, { template_id: template.id })
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`UPDATE template_versions SET archived = TRUE WHERE id = ${archived.id}`
        })
      )
      expect((await promote(archived.id)).status).toBe(400)
      expect((await owner("GET", `/templates/${template.id}`)).body).toMatchObject({ active_version_id: good.id })
      expect((await promote("7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")).status).toBe(404)
      const member = as((await server().aMember()).token)
      expect((await member("PATCH", `/templates/${template.id}/versions`, { id: good.id })).status).toBe(403)
    })

    once("that are deleted leave their versions readable", async () => {
      const template = await aTemplate(server())
      await owner("DELETE", `/templates/${template.id}`)
      expect((await owner("GET", `/templateversions/${template.active_version_id}`)).status).toBe(200)
      expect((await owner("GET", `/templates/${template.id}/versions`)).status).toBe(404)
    })

    once("without a template are readable with the right to the organization's templates", async () => {
      const version = await anImportedVersion(server())
      const member = as((await server().aMember()).token)
      const administrator = as((await server().aMember({}, ["organization-template-admin"])).token)
      expect((await member("GET", `/templateversions/${version.id}`)).status).toBe(404)
      expect((await administrator("GET", `/templateversions/${version.id}`)).status).toBe(200)
    })

    once("have no starters unless the host has some, which only template readers see", async () => {
      const member = as((await server().aMember()).token)
      expect((await owner("GET", "/templates/examples")).body).toStrictEqual([])
      expect((await owner("GET", "/organizations/default/templates/examples")).body).toStrictEqual([])
      expect((await member("GET", "/templates/examples")).status).toBe(404)
    })
  },
  { provisioner: testEngines }
)
