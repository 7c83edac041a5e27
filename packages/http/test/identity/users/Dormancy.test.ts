import { SqlClient } from "@effect/sql"
import { type User, UserDormancy, UserRepository } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeServerOnEach, ownerPassword, type TestServer } from "../../../../../test/http/server.js"
import { poisoned } from "../../../../../test/store/poison.js"
import { orderedPlanOf, statementsOf } from "../../../../../test/store/statements.js"
import { aClient, aCode, redeem } from "../../oauth2/OAuthClient.js"

const sql = Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))

/** A user who was seen last so many days ago. */
const seen = (days: number, fields: Partial<User> = {}) =>
  Effect.gen(function* () {
    const last_seen_at = Timestamp.minus(yield* Timestamp.now, `${days} days`)
    const user = yield* aUser({ last_seen_at, ...fields })
    yield* (yield* UserRepository).insert(user, null)
    return user
  })

const statusOf = (server: TestServer, { id }: User) =>
  server.run(Effect.flatMap(UserRepository, ({ byId }) => Effect.map(Effect.flatten(byId(id)), ({ status }) => status)))

const statusLog = (server: TestServer, { id }: User) =>
  server.run(
    Effect.map(
      Effect.flatMap(sql, (sql) => sql`SELECT new_status FROM user_status_changes WHERE user_id = ${id} ORDER BY id`),
      (rows) => Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ new_status: Schema.String })))(rows).map((row) => row.new_status)
    )
  )

const job = (server: TestServer) => server.run(Effect.flatMap(UserDormancy, ({ worker }) => worker.run))

describeServerOnEach("users whom nobody sees", (server, once) => {
  once("become dormant although that fails with another one", async () => {
    const users = await server().run(Effect.all([seen(92), seen(93), seen(94)]))
    const [, poison] = users
    if (poison === undefined) return expect.fail("no user")
    await server().run(
      Effect.flatMap(sql, (client) =>
        poisoned("users", "id", poison.id).pipe(
          Effect.zipRight(Effect.flatMap(UserDormancy, ({ worker }) => worker.run)),
          Effect.scoped,
          Effect.provideService(SqlClient.SqlClient, client)
        )
      )
    )
    expect(await Promise.all(users.map((user) => statusOf(server(), user)))).toStrictEqual(["dormant", "active", "dormant"])
    await job(server())
    expect(await statusOf(server(), poison)).toBe("dormant")
  })

  once("become dormant after 90 days, with an audit entry", async () => {
    const [gone, recent, never, suspended, service, own] = await server().run(
      Effect.all([
        seen(91),
        seen(89),
        seen(0, { last_seen_at: Timestamp.never }),
        seen(91, { status: "suspended" }),
        seen(91, { is_service_account: true, email: "" }),
        seen(91, { is_system: true })
      ])
    )
    await job(server())
    const users = [gone, recent, never, suspended, service, own]
    expect(await Promise.all(users.map((user) => statusOf(server(), user)))).toStrictEqual([
      "dormant",
      "active",
      "dormant",
      "suspended",
      "dormant",
      "active"
    ])
    expect(await Promise.all(users.map((user) => statusLog(server(), user)))).toStrictEqual([
      ["active", "dormant"],
      ["active"],
      ["active", "dormant"],
      ["suspended"],
      ["active", "dormant"],
      ["active"]
    ])
    expect(await server().run(auditEntries({ resource_id: gone.id }))).toMatchObject([
      {
        action: "write",
        resource_type: "user",
        resource_target: gone.username,
        user_id: gone.id,
        organization_id: Uuid.nil,
        request_id: Uuid.nil,
        status_code: 200,
        diff: { status: { old: "active", new: "dormant", secret: false } },
        additional_fields: { automatic_actor: "service", automatic_subsystem: "dormancy" }
      }
    ])
    await job(server())
    expect(await statusLog(server(), gone)).toHaveLength(2)
    expect(await server().run(auditEntries({ resource_id: gone.id }))).toHaveLength(1)
  })

  it("become dormant once, for any number of users and processes", async () => {
    const users = await server().run(Effect.forEach(Array.from({ length: 450 }), () => seen(100)))
    await Promise.all([job(server()), job(server()), job(server())])
    await job(server())
    const rows = await server().run(
      Effect.flatMap(
        sql,
        (sql) => sql`SELECT u.id, (SELECT count(*) FROM user_status_changes c WHERE c.user_id = u.id) AS changes,
          (SELECT count(*) FROM audit_logs a WHERE a.resource_id = u.id) AS entries
        FROM users u WHERE u.status = 'dormant' AND u.id IN (SELECT id FROM users WHERE NOT is_system ORDER BY id DESC LIMIT 450)`
      )
    )
    expect(rows).toHaveLength(users.length)
    expect(rows.every(({ changes, entries }) => Number(changes) === 2 && Number(entries) === 1)).toBe(true)
  })

  once("stay active once they have logged in, and so does the first user", async () => {
    const never = { last_seen_at: Timestamp.never }
    const [{ user }, person, idle] = await Promise.all([
      server().aPerson({ fields: never, password: ownerPassword, organizationRoles: [] }),
      server().aMember(never),
      server().aMember(never)
    ])
    const body = { email: user.email, password: ownerPassword }
    expect((await server().call("POST", "/users/login", { body })).status).toBe(201)
    // The consent counts as seen by itself; the code is redeemed later
    const client = await aClient(server())
    const code = await aCode(server(), client, person)
    await server().run(Effect.flatMap(sql, (sql) => sql`UPDATE users SET last_seen_at = ${Timestamp.never} WHERE id = ${person.user.id}`))
    expect((await redeem(server(), client, code)).status).toBe(200)
    await job(server())
    expect(await Promise.all([user, person.user, idle.user].map((each) => statusOf(server(), each)))).toStrictEqual([
      "active",
      "active",
      "dormant"
    ])
    const owner = server().owner().user
    expect(owner.last_seen_at).toBe(owner.created_at)
  })

  once("are active again with their first request, and stay so", async () => {
    const { token, user } = await server().aMember({ last_seen_at: Timestamp.never })
    await job(server())
    expect(await statusOf(server(), user)).toBe("dormant")
    expect((await server().call("GET", "/users/me", { token })).body).toMatchObject({ status: "active" })
    await job(server())
    expect(await statusOf(server(), user)).toBe("active")
    expect(await statusLog(server(), user)).toStrictEqual(["active", "dormant", "active"])
    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
    expect(entries.map(({ additional_fields, diff }) => [diff["status"]?.new, additional_fields["automatic_subsystem"]])).toStrictEqual([
      ["dormant", "dormancy"],
      ["active", "dormancy"]
    ])
  })

  it("stay suspended when they come while they are being suspended", async () => {
    const { token: owner } = server().owner()
    for (let round = 0; round < 5; round++) {
      const { token, user } = await server().aMember({ status: "dormant" })
      const requests = Array.from({ length: 6 }, async () => (await server().call("GET", "/users/me", { token })).status)
      const suspended = server().call("PUT", `/users/${user.id}/status/suspend`, { token: owner })
      expect(await suspended).toMatchObject({ status: 200, body: { status: "suspended" } })
      for (const status of await Promise.all(requests)) expect([200, 401]).toContain(status)
      expect(await statusOf(server(), user)).toBe("suspended")
      expect((await server().call("GET", "/users/me", { token })).status).toBe(401)
      const log = await statusLog(server(), user)
      expect([
        ["dormant", "suspended"],
        ["dormant", "active", "suspended"]
      ]).toContainEqual(log)
      // Each change begins where the one before it ended
      const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
      expect(entries.map(({ diff }) => [diff["status"]?.old, diff["status"]?.new])).toStrictEqual(
        log.slice(1).map((status, index) => [log[index], status])
      )
    }
  })

  it("are found by an index", async () => {
    const plans = await server().run(
      Effect.gen(function* () {
        const client = yield* sql
        const { statements } = yield* statementsOf((yield* UserDormancy).worker.run)
        const update = statements.filter(({ text }) => text.startsWith("UPDATE users"))
        return yield* Effect.provideService(Effect.forEach(update, orderedPlanOf), SqlClient.SqlClient, client)
      })
    )
    expect(plans).toHaveLength(1)
    expect(plans[0]).toMatch(/users_active_by_last_seen/)
  })
})
