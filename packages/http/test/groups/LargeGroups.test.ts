import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/audit.js"
import { sqlite } from "../../../../test/databases.js"
import { describeServer, startServer, type TestServer } from "../../../../test/server.js"

const entitlements = { has: (feature: string) => feature === "template_rbac" }

const Shown = Schema.Struct({ id: Uuid.Uuid, members: Schema.Array(Schema.Any), total_member_count: Schema.Number })

const get = (server: TestServer, path: string, token = server.owner().token) => server.call("GET", path, { token })

const aGroup = async (server: TestServer): Promise<Uuid.Uuid> => {
  const body = { name: `l${crypto.randomUUID()}` }
  return (await server.call("POST", "/organizations/default/groups", { token: server.owner().token, body })).as(Shown).id
}

/** Makes users who are members of the default organization, and of groups. */
const populate = (server: TestServer, count: number, groups: ReadonlyArray<Uuid.Uuid>) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      const { id: organization } = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
      const ids = JSON.stringify(Array.from({ length: count }, () => crypto.randomUUID()))
      const items = sql.onDialectOrElse({
        pg: () => sql`(SELECT CAST(value AS uuid) AS value FROM jsonb_array_elements_text(CAST(${ids} AS jsonb)))`,
        orElse: () => sql`(SELECT value FROM json_each(${ids}))`
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
    it("is audited with those who come and go, and not with everybody else", async () => {
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
  },
  { entitlements }
)

it("lists of groups with very many members are refused to those who would see them, and no single group is", async () => {
  const server = await startServer(sqlite, { entitlements })
  try {
    const groups = await Promise.all(Array.from({ length: 251 }, () => aGroup(server)))
    await populate(server, 1000, groups)
    const [first] = groups
    const message = "The groups have more than 250000 members together: ask for one of them, or for groups in pages."
    for (const path of ["/groups", "/organizations/default/groups"]) {
      expect(await get(server, path)).toMatchObject({ status: 400, body: { message } })
    }
    const few = (await get(server, `/groups?group_ids=${groups.slice(0, 2).join(",")}`)).as(Schema.Array(Shown))
    expect(few.map(({ members }) => members.length)).toStrictEqual([1000, 1000])
    expect((await get(server, `/groups/${first}`)).as(Shown).members).toHaveLength(1000)
    const all = (await get(server, "/groups", (await server.aMember()).token)).as(Schema.Array(Shown))
    expect([all.length, all.filter(({ members }) => members.length > 0).length]).toStrictEqual([252, 1])
  } finally {
    await server.close()
  }
})
