import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { describeServer, type TestServer } from "../../../../test/http/server.js"
import { Statements } from "@atelier/storage"

const entitlements = { has: (feature: string) => feature === "template_rbac" }

const Shown = Schema.Struct({
  id: Uuid.Uuid,
  members: Schema.Array(Schema.Struct({ id: Uuid.Uuid, username: Schema.String })),
  total_member_count: Schema.Number
})
const Counted = Schema.Struct({ count: Schema.Number })

const get = (server: TestServer, path: string, token = server.owner().token) => server.call("GET", path, { token })

const aGroup = async (server: TestServer): Promise<Uuid.Uuid> => {
  const body = { name: `l${crypto.randomUUID()}` }
  return (await server.call("POST", "/organizations/default/groups", { token: server.owner().token, body })).as(Shown).id
}

/** Makes users who are members of the default organization, and of groups. */
const populate = (server: TestServer, count: number, groups: ReadonlyArray<Uuid.Uuid>) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(Statements))
      const { id: organization } = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
      const ids = JSON.stringify(Array.from({ length: count }, () => crypto.randomUUID()))
      const items = sql.dialect({
        postgres: () => sql`(SELECT CAST(value AS uuid) AS value FROM jsonb_array_elements_text(CAST(${ids} AS jsonb)))`,
        sqlite: () => sql`(SELECT value FROM json_each(${ids}))`
      })
      const columns = sql.literal(
        `avatar_url, status, login_type, rbac_roles, created_at, updated_at, last_seen_at, deleted, is_system, is_service_account,
         theme_preference, quiet_hours_schedule`
      )
      yield* sql`INSERT INTO users (id, email, username, name, ${columns})
        SELECT i.value, '', i.value, '', ${columns} FROM users u, ${items} i WHERE u.id = ${server.owner().user.id}`
      yield* sql`INSERT INTO organization_members (organization_id, user_id, created_at, updated_at, roles)
        SELECT m.organization_id, i.value, m.created_at, m.updated_at, '[]' FROM organization_members m, ${items} i
        WHERE m.user_id = ${server.owner().user.id} AND m.organization_id = ${organization}`
      for (const id of groups)
        yield* sql`INSERT INTO group_members (group_id, user_id) SELECT g.id, i.value FROM groups g, ${items} i WHERE g.id = ${id}`
    })
  )

describeServer(
  "a large group",
  (server) => {
    it("is audited with its added and removed members only", async () => {
      const id = await aGroup(server())
      await populate(server(), 1001, [id])
      const one = await server().aMember()
      const patch = async (body: object) =>
        (await server().call("PATCH", `/groups/${id}`, { token: server().owner().token, body })).as(Shown).total_member_count
      expect(await patch({ add_users: [one.user.id] })).toBe(1002)
      expect(await patch({ quota_allowance: 1 })).toBe(1002)
      expect(await patch({ remove_users: [one.user.id, server().owner().user.id] })).toBe(1001)
      const entry = { user_id: one.user.id, group_id: id }
      const entries = await server().run(auditEntries({ resource_id: id }))
      expect(entries.filter(({ action }) => action === "write").map(({ diff }) => diff)).toStrictEqual([
        { members: { old: [], new: [entry], secret: false } },
        { quota_allowance: { old: 0, new: 1, secret: false } },
        { members: { old: [entry], new: [], secret: false } }
      ])
    })

    it("is shown whole, alone and in lists, to callers who may read all members", async () => {
      const groups = await Promise.all([aGroup(server()), aGroup(server()), aGroup(server()), aGroup(server())])
      const [first, second, small, empty] = groups
      await populate(server(), 1203, [first, second])
      const member = await server().aMember({ username: "0" })
      const body = { add_users: [member.user.id] }
      for (const id of [first, small]) await server().call("PATCH", `/groups/${id}`, { token: server().owner().token, body })
      const sizes = new Map([
        [first, 1204],
        [second, 1203],
        [small, 1],
        [empty, 0]
      ])

      const one = (await get(server(), `/groups/${first}`)).as(Shown)
      const names = one.members.map(({ username }) => username)
      expect([names.length, names[0], one.total_member_count]).toStrictEqual([1204, "0", 1204])
      expect(names).toStrictEqual(names.toSorted())
      const listed = (await get(server(), `/groups?group_ids=${groups.join(",")}`)).as(Schema.Array(Shown))
      expect(new Map(listed.map(({ id, members }) => [id, members.length]))).toStrictEqual(sizes)
      expect(new Map(listed.map(({ id, total_member_count }) => [id, total_member_count]))).toStrictEqual(sizes)
      expect(listed.find(({ id }) => id === first)?.members).toStrictEqual(one.members)
      // A member sees itself alone, which is read at once
      const own = (await get(server(), `/groups?group_ids=${groups.join(",")}`, member.token)).as(Schema.Array(Shown))
      expect(new Map(own.map(({ id, members }) => [id, members.length]))).toStrictEqual(
        new Map(groups.map((id) => [id, id === first || id === small ? 1 : 0]))
      )
      const hidden = await get(server(), `/groups/${first}?exclude_members=true`)
      expect(hidden.body).toMatchObject({ id: first, members: [], total_member_count: 1204 })
      const deleted = await server().call("DELETE", `/groups/${first}`, { token: server().owner().token })
      expect(deleted.as(Shown)).toStrictEqual(one)

      const everybody = (await get(server(), "/organizations/default/members")).as(Schema.Array(Schema.Struct({ username: Schema.String })))
      const { count } = (await get(server(), "/organizations/default/paginated-members?limit=1")).as(Counted)
      expect([everybody.length, everybody[0]?.username]).toStrictEqual([count, "0"])
    })

    it("is deleted without its members being read, where they are very many", async () => {
      const id = await aGroup(server())
      await populate(server(), 10_001, [id])
      const answer = await server().call("DELETE", `/groups/${id}`, { token: server().owner().token })
      expect([answer.status, answer.body]).toMatchObject([200, { id, members: [], total_member_count: 10_001 }])
      const [, deleted] = await server().run(auditEntries({ resource_id: id }))
      expect(deleted).toMatchObject({ action: "delete", status_code: 200, additional_fields: { total_member_count: "10001" } })
      expect(Object.keys(deleted?.diff ?? {})).toStrictEqual(["id", "name"])
    })
  },
  { entitlements }
)
