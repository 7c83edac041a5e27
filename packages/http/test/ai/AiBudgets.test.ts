import { AiSpendRepository, monthOf, spendDays } from "@atelier/core/ai"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { anOrganization } from "../../../../test/records/builders.js"
import { postgres } from "../../../../test/store/databases.js"
import {
  describeInterface,
  describeServer,
  describeServerOnEach,
  type Person,
  startServer,
  type TestServer
} from "../../../../test/http/server.js"

const licensed = (...features: ReadonlyArray<string>) => ({ has: (feature: string) => features.includes(feature) })
const entitlements = licensed("template_rbac", "aibridge")

const Refused = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })
const Made = Schema.Struct({ id: Uuid.Uuid, organization_id: Uuid.Uuid, name: Schema.String })

type Method = Parameters<TestServer["call"]>[0]
type Group = typeof Made.Type

const call = (server: TestServer, method: Method, path: string, { token }: Pick<Person, "token">, body?: object) =>
  server.call(method, path, { token, ...(body === undefined ? {} : { body }) })

const refusal = ({ as, status }: Awaited<ReturnType<typeof call>>) => [status, ...as(Refused).validations.map(({ field }) => field)]

const aGroup = async (server: TestServer, people: ReadonlyArray<Person> = [], organization = "default"): Promise<Group> => {
  const body = { name: `b${crypto.randomUUID()}` }
  const group = (await call(server, "POST", `/organizations/${organization}/groups`, server.owner(), body)).as(Made)
  await call(server, "PATCH", `/groups/${group.id}`, server.owner(), { add_users: people.map(({ user }) => user.id) })
  return group
}

const limit = (server: TestServer, { id }: Pick<Group, "id">, spend_limit_micros: number, person: Pick<Person, "token"> = server.owner()) =>
  call(server, "PUT", `/groups/${id}/ai/budget`, person, { spend_limit_micros })

const override = (server: TestServer, { user }: Person, body: object, person: Pick<Person, "token"> = server.owner()) =>
  call(server, "PUT", `/users/${user.id}/ai/budget/override`, person, body)

const spendOf = async (server: TestServer, { user }: Person) =>
  (await call(server, "GET", `/users/${user.id}/ai/spend`, server.owner())).body

/** Books what a user spent, this month unless a day is given. */
const book = (
  server: TestServer,
  { user }: Person,
  group: Pick<Group, "id" | "organization_id">,
  cost_micros: number,
  fields: object = {},
  day?: string
) =>
  server.run(
    Effect.gen(function* () {
      const { first } = spendDays(monthOf(yield* Timestamp.now))
      yield* (yield* AiSpendRepository).book(day ?? first, {
        user_id: user.id,
        group_id: group.id,
        organization_id: group.organization_id,
        model: "m",
        provider: "p",
        provider_name: "n",
        input_tokens: 1,
        output_tokens: 2,
        cache_read_tokens: 3,
        cache_write_tokens: 4,
        cost_micros,
        ...fields
      })
    })
  )

const statement = (server: TestServer, write: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), write))

/** Runs two statements in a transaction of PostgreSQL, and in between a call until it waits for a lock; answers what the call is answered. */
const whileWaiting = async <A>(
  server: TestServer,
  first: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>,
  call: () => Promise<A>,
  second: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>
): Promise<A> => {
  const called: Array<Promise<A>> = []
  await statement(server, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* first(sql)
        called.push(call())
        const waiting = Effect.map(
          sql`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
          ({ length }) => length
        )
        yield* Effect.repeat(waiting, { until: (count) => count > 0 })
        yield* second(sql)
      })
    )
  )
  const [answer] = called
  if (answer === undefined) throw new Error("nothing was called")
  return answer
}

const leaveGroup = (server: TestServer, group: Group, { user }: Person) =>
  call(server, "PATCH", `/groups/${group.id}`, server.owner(), { remove_users: [user.id] })

describeInterface(
  "AI budgets without their license",
  (server) => {
    it("are refused, where specified before authentication", async () => {
      const paths = [
        `/groups/${Uuid.nil}/ai/budget`,
        `/groups/${Uuid.nil}/members/ai/spend`,
        "/users/me/ai/spend",
        "/users/me/ai/budget/override",
        "/organizations/default/groups/ai/spend",
        "/organizations/default/ai/spend/export"
      ]
      const statuses = (options: object) => Promise.all(paths.map(async (path) => (await server().call("GET", path, options)).status))
      expect(await statuses({})).toStrictEqual([403, 403, 403, 403, 401, 401])
      expect(await statuses({ token: server().owner().token })).toStrictEqual(Array.from(paths, () => 403))
    })
  },
  { entitlements: licensed("template_rbac") }
)

describeServer(
  "the AI budget of a group",
  (server) => {
    it("of a group is set, changed and deleted with audit entries", async () => {
      const one = await server().aMember()
      const group = await aGroup(server(), [one])
      const path = `/groups/${group.id}/ai/budget`
      expect((await call(server(), "GET", path, one)).status).toBe(404)
      expect((await call(server(), "DELETE", path, server().owner())).status).toBe(404)
      const set = await limit(server(), group, 12_340_000)
      const shown = { group_id: group.id, spend_limit_micros: 12_340_000, created_at: expect.any(String), updated_at: expect.any(String) }
      expect([set.status, set.body]).toStrictEqual([200, shown])
      expect((await call(server(), "GET", path, one)).body).toStrictEqual(set.body)
      server().advance("1 minute")
      const changed = (await limit(server(), group, 0)).as(Schema.Struct({ created_at: Schema.String, updated_at: Schema.String }))
      expect(changed.updated_at > changed.created_at).toBe(true)
      expect(set.body).toMatchObject({ created_at: changed.created_at })
      expect((await limit(server(), group, 1, one)).status).toBe(404)
      expect((await call(server(), "DELETE", path, one)).status).toBe(404)
      expect((await call(server(), "DELETE", path, server().owner())).status).toBe(204)
      expect((await call(server(), "GET", path, one)).status).toBe(404)
      const entries = await server().run(auditEntries({ resource_id: group.id, resource_type: "group_ai_budget" }))
      expect(entries.map(({ action, diff, resource_target, status_code }) => [action, status_code, resource_target, diff])).toStrictEqual([
        ["delete", 404, group.name, {}],
        ["write", 200, group.name, { spend_limit: { old: "$0.00", new: "$12.34", secret: false } }],
        ["write", 200, group.name, { spend_limit: { old: "$12.34", new: "$0.00", secret: false } }],
        ["write", 404, group.name, {}],
        ["delete", 404, group.name, {}],
        ["delete", 204, group.name, { spend_limit: { old: "$0.00", new: "", secret: false } }]
      ])
    })

    it("is between nothing and a million", async () => {
      const group = await aGroup(server())
      for (const micros of [-1, 1_000_000_000_001])
        expect(refusal(await limit(server(), group, micros))).toStrictEqual([400, "spend_limit_micros"])
      expect((await limit(server(), group, 1_000_000_000_000)).status).toBe(200)
      expect((await call(server(), "PUT", `/groups/${group.id}/ai/budget`, server().owner(), {})).body).toMatchObject({
        spend_limit_micros: 0
      })
      expect((await limit(server(), group, 0.5)).status).toBe(400)
      expect((await call(server(), "GET", "/groups/somewhere/ai/budget", server().owner())).status).toBe(400)
    })

    it("is shown with its members' total limit and spend", async () => {
      const people = await Promise.all(Array.from({ length: 4 }, () => server().aMember()))
      const [one, two, three, four] = people
      if (one === undefined || two === undefined || three === undefined || four === undefined) throw new Error("four were made")
      const group = await aGroup(server(), [one, two, three])
      const better = await aGroup(server(), [three])
      const plain = await aGroup(server(), [one])
      await limit(server(), group, 10)
      await limit(server(), better, 11)
      await override(server(), two, { group_id: group.id, spend_limit_micros: 3 })
      await book(server(), one, group, 4)
      await book(server(), two, group, 5)
      await book(server(), one, group, 6)
      await book(server(), one, better, 100)
      const of = async ({ id }: Group) => (await call(server(), "GET", `/groups/${id}/ai/spend`, one)).body
      const shown = { group_id: group.id, spend_limit_micros: 10, total_spend_limit_micros: 13, current_spend_micros: 15 }
      expect(await of(group)).toMatchObject({ ...shown, period_start: expect.stringMatching(/-01T00:00:00/) })
      const bare = { group_id: plain.id, spend_limit_micros: null, total_spend_limit_micros: null, current_spend_micros: 0 }
      expect(await of(plain)).toMatchObject(bare)

      const list = `/organizations/default/groups/ai/spend?group_ids=${group.id},${plain.id},${Uuid.nil}`
      const all = (await call(server(), "GET", list, one)).as(Schema.Struct({ groups: Schema.Array(Schema.Object) }))
      expect(all.groups).toHaveLength(2)
      expect(all.groups).toEqual(expect.arrayContaining([shown, bare]))
      const other = await server().run(
        Effect.tap(anOrganization(), (organization) => Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization)))
      )
      const foreign = await call(server(), "GET", `/organizations/${other.id}/groups/ai/spend?group_ids=${group.id}`, server().owner())
      expect(foreign.body).toMatchObject({ groups: [] })

      const members = `members/ai/spend?user_ids=${[one, two, three, four].map(({ user }) => user.id).join(",")}`
      const rows = await call(server(), "GET", `/groups/${group.id}/${members}`, server().owner())
      expect(rows.body).toMatchObject({
        members: [
          {
            user_id: one.user.id,
            effective_group_id: group.id,
            group_budget: { spend_limit_micros: 10, limit_source: "group" },
            group_spend_micros: 10
          },
          { user_id: two.user.id, group_budget: { spend_limit_micros: 3, limit_source: "user_override" }, group_spend_micros: 5 },
          { user_id: three.user.id, effective_group_id: better.id, group_budget: null, group_spend_micros: 0 }
        ]
      })
      expect(rows.as(Schema.Struct({ members: Schema.Array(Schema.Object) })).members).toHaveLength(3)
      const own = await call(server(), "GET", `/organizations/default/groups/${group.name}/${members}`, one)
      expect(own.as(Schema.Struct({ members: Schema.Array(Schema.Struct({ user_id: Schema.String })) })).members).toStrictEqual([
        { user_id: one.user.id }
      ])
    })

    it("takes one to a hundred ids", async () => {
      const { id } = await aGroup(server())
      const many = Array.from({ length: 101 }, () => Uuid.nil).join(",")
      const get = (path: string) => call(server(), "GET", path, server().owner())
      for (const [path, field] of [
        [`/groups/${id}/members/ai/spend`, "user_ids"],
        [`/groups/${id}/members/ai/spend?user_ids=${many}`, "user_ids"],
        [`/groups/${id}/members/ai/spend?user_ids=${Uuid.nil}&x=1`, "x"],
        ["/organizations/default/groups/ai/spend", "group_ids"],
        [`/organizations/default/groups/ai/spend?group_ids=${many}`, "group_ids"]
      ] as const) {
        expect(refusal(await get(path))).toStrictEqual([400, field])
      }
      expect((await get("/organizations/default/groups/ai/spend?group_ids=x")).status).toBe(400)
    })
  },
  { entitlements }
)

describeServerOnEach(
  "the AI budget of a user",
  (server, once) => {
    once("is the highest of the user's groups, its override, or unlimited", async () => {
      const one = await server().aMember()
      const [five, nine] = [await aGroup(server(), [one]), await aGroup(server(), [one])]
      const everyone = five.organization_id
      expect(await spendOf(server(), one)).toMatchObject({
        user_id: one.user.id,
        effective_group_id: everyone,
        effective_budget: null,
        current_spend_micros: 0
      })
      await limit(server(), five, 5)
      await limit(server(), nine, 9)
      await book(server(), one, nine, 7)
      await book(server(), one, five, 2)
      expect(await spendOf(server(), one)).toMatchObject({
        effective_group_id: nine.id,
        effective_budget: { spend_limit_micros: 9, limit_source: "group" },
        current_spend_micros: 7
      })
      await override(server(), one, { group_id: five.id, spend_limit_micros: 1 })
      expect(await spendOf(server(), one)).toMatchObject({
        effective_group_id: five.id,
        effective_budget: { spend_limit_micros: 1, limit_source: "user_override" },
        current_spend_micros: 2
      })
      expect((await call(server(), "GET", "/users/me/ai/spend", one)).body).toMatchObject({ effective_group_id: five.id })
      expect((await call(server(), "GET", `/users/${one.user.id}/ai/spend`, await server().aMember())).status).toBe(404)
      await book(server(), one, five, 1000, {}, "2020-01-31")
      expect(await spendOf(server(), one)).toMatchObject({ current_spend_micros: 2 })
      await statement(server(), (sql) => sql`DELETE FROM organization_members WHERE user_id = ${one.user.id}`)
      expect(await spendOf(server(), one)).toMatchObject({ effective_group_id: null, effective_budget: null })
    })

    once("of a user is charged to a group and set by editors of both", async () => {
      const one = await server().aMember()
      const group = await aGroup(server(), [one])
      const other = await aGroup(server())
      const admin = await server().aMember({}, ["organization-admin"])
      const path = `/users/${one.user.id}/ai/budget/override`
      expect(refusal(await override(server(), one, { group_id: other.id, spend_limit_micros: 1 }))).toStrictEqual([400, "group_id"])
      expect(refusal(await override(server(), one, { spend_limit_micros: 1 }))).toStrictEqual([400, "group_id"])
      expect(refusal(await override(server(), one, { group_id: group.id, spend_limit_micros: -1 }))).toStrictEqual([
        400,
        "spend_limit_micros"
      ])
      expect((await override(server(), one, { group_id: crypto.randomUUID(), spend_limit_micros: 1 })).status).toBe(404)
      expect((await override(server(), one, { group_id: group.id, spend_limit_micros: 1 }, admin)).status).toBe(404)
      expect((await override(server(), one, { group_id: group.id, spend_limit_micros: 1 }, one)).status).toBe(404)
      expect((await call(server(), "DELETE", path, server().owner())).status).toBe(404)
      const set = await override(server(), one, { group_id: group.id, spend_limit_micros: 2_500_000 })
      expect([set.status, set.body]).toMatchObject([200, { user_id: one.user.id, group_id: group.id, spend_limit_micros: 2_500_000 }])
      expect((await call(server(), "GET", path, one)).body).toStrictEqual(set.body)
      const again = await override(server(), one, { group_id: group.organization_id, spend_limit_micros: 1 })
      expect([again.status, again.body]).toMatchObject([200, { group_id: group.organization_id }])
      expect((await call(server(), "DELETE", path, admin)).status).toBe(404)
      expect((await call(server(), "DELETE", path, server().owner())).status).toBe(204)
      const entries = await server().run(auditEntries({ resource_id: one.user.id, resource_type: "user_ai_budget_override" }))
      const succeeded = entries.filter(({ status_code }) => status_code < 300)
      expect(succeeded.map(({ action, diff, resource_target }) => [action, resource_target, diff])).toMatchObject([
        [
          "write",
          one.user.username,
          { group_id: { new: group.id }, group_name: { new: group.name }, spend_limit: { old: "$0.00", new: "$2.50" } }
        ],
        ["write", one.user.username, { group_name: { old: group.name, new: "Everyone" } }],
        ["delete", one.user.username, { spend_limit: { old: "$0.00", new: "" } }]
      ])
      expect(entries.filter(({ action }) => action === "delete")).toHaveLength(2)
    })

    once("ends with the membership that it is charged to", async () => {
      const people = await Promise.all(Array.from({ length: 4 }, () => server().aMember()))
      const [left, removed, deleted, away] = people
      if (left === undefined || removed === undefined || deleted === undefined || away === undefined) throw new Error("four were made")
      const group = await aGroup(server(), people.slice(0, 3))
      const gone = await aGroup(server(), [deleted])
      await override(server(), left, { group_id: group.id, spend_limit_micros: 1 })
      await override(server(), removed, { group_id: group.id, spend_limit_micros: 1 })
      await override(server(), deleted, { group_id: gone.id, spend_limit_micros: 1 })
      await override(server(), away, { group_id: group.organization_id, spend_limit_micros: 1 })
      const statuses = () =>
        Promise.all(
          people.map(async ({ user }) => (await call(server(), "GET", `/users/${user.id}/ai/budget/override`, server().owner())).status)
        )
      expect(await statuses()).toStrictEqual([200, 200, 200, 200])
      await statement(server(), (sql) => sql`DELETE FROM organization_members WHERE user_id IN ${sql.in([left.user.id, away.user.id])}`)
      await leaveGroup(server(), group, removed)
      await call(server(), "DELETE", `/groups/${gone.id}`, server().owner())
      expect(await statuses()).toStrictEqual([404, 404, 404, 404])
    })

    it("is not set for a user who leaves the group concurrently", async () => {
      const people = await Promise.all(Array.from({ length: 4 }, () => server().aMember()))
      const group = await aGroup(server(), people)
      await Promise.all(
        people.flatMap((person) => [
          override(server(), person, { group_id: group.id, spend_limit_micros: 1 }),
          leaveGroup(server(), group, person)
        ])
      )
      for (const { user } of people) {
        expect((await call(server(), "GET", `/users/${user.id}/ai/budget/override`, server().owner())).status).toBe(404)
      }
    })
  },
  { entitlements }
)

it("rejects deleting an override of a group that the actor lost", async () => {
  const server = await startServer(postgres, { entitlements })
  try {
    const one = await server.aMember()
    const [group, other] = [await aGroup(server, [one]), await aGroup(server, [one])]
    await override(server, one, { group_id: group.id, spend_limit_micros: 1 })
    const path = `/users/${one.user.id}/ai/budget/override`
    const answer = await whileWaiting(
      server,
      (sql) => sql`SELECT id FROM users WHERE id = ${one.user.id} FOR UPDATE`,
      () => call(server, "DELETE", path, server.owner()),
      (sql) => sql`UPDATE user_ai_budget_overrides SET group_id = ${other.id}, member_of_group_id = ${other.id}
        WHERE user_id = ${one.user.id}`
    )
    expect(answer.status).toBe(404)
    expect((await call(server, "GET", path, server.owner())).body).toMatchObject({ group_id: other.id })
  } finally {
    await server.close()
  }
})

it("a budget override waits for a group or membership that is ending before it locks rows", async () => {
  const server = await startServer(postgres, { entitlements })
  try {
    const one = await server.aMember()
    const group = await aGroup(server, [one])
    const ending: ReadonlyArray<(sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>> = [
      (sql) => sql`SELECT id FROM groups WHERE id = ${group.id} FOR UPDATE`,
      (sql) => sql`SELECT user_id FROM organization_members WHERE user_id = ${one.user.id} FOR UPDATE`
    ]
    for (const first of ending) {
      const answer = await whileWaiting(
        server,
        first,
        () => override(server, one, { group_id: group.id, spend_limit_micros: 1 }),
        (sql) => sql`SELECT user_id FROM group_members WHERE group_id = ${group.id} FOR UPDATE NOWAIT`
      )
      expect(answer.status).toBe(200)
    }
  } finally {
    await server.close()
  }
})

describeInterface(
  "the export of what AI cost",
  (server) => {
    it("is a table of users' spend, for readers of all group members", async () => {
      // One after the other: the table is in the order of users' ids
      const one = await server().aMember({ username: "anna" })
      const two = await server().aMember({ username: "ben" })
      const auditor = await server().aMember({}, ["organization-auditor"])
      const group = await aGroup(server(), [one, two])
      await book(server(), two, group, 5, { model: "=cmd()" })
      await book(server(), one, group, 7)
      await book(server(), one, group, 8)
      const path = "/organizations/default/ai/spend/export"
      const answer = await call(server(), "GET", path, auditor)
      expect(answer.status).toBe(200)
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
      expect(answer.headers.get("content-disposition")).toMatch(
        /^attachment; filename="ai-spend-export-default-\d{4}-\d\d-01-to-\d{4}-\d\d-01\.csv"$/
      )
      expect(answer.headers.get("content-length")).toBe(String(new TextEncoder().encode(answer.text).length))
      const [head, ...lines] = answer.text.trimEnd().split("\n")
      expect(head).toBe(
        "user_id,username,group_id,group_name,organization_id,organization_name,model,provider,provider_name,input_tokens,output_tokens," +
          "cache_read_tokens,cache_write_tokens,cost_micros,period_start,period_end"
      )
      const names = [group.id, group.name, group.organization_id, "default"]
      expect(lines.map((line) => line.split(",").slice(0, 14))).toStrictEqual([
        [one.user.id, "anna", ...names, "m", "p", "n", "2", "4", "6", "8", "15"],
        [two.user.id, "ben", ...names, "'=cmd()", "p", "n", "1", "2", "3", "4", "5"]
      ])
      expect((await call(server(), "GET", path, one)).status).toBe(403)
      expect((await call(server(), "GET", "/organizations/nowhere/ai/spend/export", auditor)).status).toBe(404)
      expect(refusal(await call(server(), "GET", `${path}?foo=1`, auditor))).toStrictEqual([400, "foo"])
      expect(refusal(await call(server(), "GET", `${path}?period_start=2026-01-01T00:00:00Z`, auditor))).toStrictEqual([400, "period_end"])
      const old = `${path}?period_start=2020-01-01T00:00:00Z&period_end=2020-01-02T00:00:00Z`
      expect(refusal(await call(server(), "GET", old, auditor))).toStrictEqual([400, "period_start"])
    })
  },
  { entitlements }
)
