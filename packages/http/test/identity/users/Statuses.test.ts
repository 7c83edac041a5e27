import { SqlClient } from "@effect/sql"
import { PasswordHasher, UserRepository } from "@atelier/core/identity"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, type TestServer } from "../../../../../test/http/server.js"

const put = (server: TestServer, token: string, user: string, change: "suspend" | "activate") =>
  server.call("PUT", `/users/${user}/status/${change}`, { token })

const me = async (server: TestServer, token: string) => server.call("GET", "/users/me", { token })

/** The log of a user's statuses, oldest first. */
const statusLog = (server: TestServer, id: Uuid.Uuid) =>
  server.run(
    Effect.flatMap(
      Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)),
      (sql) => sql`SELECT new_status FROM user_status_changes WHERE user_id = ${id} ORDER BY id`
    )
  )

describeInterface("a suspended user", (server) => {
  it("is refused with a message, keeps its keys, and can use them after activation", async () => {
    const { token, user } = await server().aMember({ last_seen_at: Timestamp.never })
    const owner = server().owner()
    const suspended = await put(server(), owner.token, user.username, "suspend")
    expect([suspended.status, suspended.body]).toMatchObject([
      200,
      { id: user.id, status: "suspended", organization_ids: [expect.any(String)] }
    ])
    const refused = await me(server(), token)
    expect([refused.status, refused.body]).toMatchObject([401, { message: expect.stringContaining("suspended") }])

    const activated = await put(server(), owner.token, user.id, "activate")
    expect([activated.status, activated.body]).toMatchObject([200, { id: user.id, status: "active", last_seen_at: "0001-01-01T00:00:00Z" }])
    expect((await me(server(), token)).status).toBe(200)
    expect(await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))).toMatchObject([
      {
        action: "write",
        user_id: owner.user.id,
        resource_target: user.username,
        status_code: 200,
        diff: { status: { old: "active", new: "suspended", secret: false } }
      },
      { action: "write", diff: { status: { old: "suspended", new: "active", secret: false } } }
    ])
    expect(await statusLog(server(), user.id)).toMatchObject([
      { new_status: "active" },
      { new_status: "suspended" },
      { new_status: "active" }
    ])
  })

  it("cannot log in", async () => {
    const password = "SomeOtherPassword!"
    const user = await server().run(
      Effect.gen(function* () {
        const user = yield* aUser({ status: "dormant" })
        yield* (yield* UserRepository).insert(user, yield* (yield* PasswordHasher).hash(Redacted.make(password)))
        return user
      })
    )
    await put(server(), server().owner().token, user.id, "suspend")
    const login = await server().call("POST", "/users/login", { body: { email: user.email, password } })
    expect([login.status, login.body]).toMatchObject([401, { message: expect.stringContaining("suspended") }])
  })

  it("can be suspended again, which is audited and changes nothing", async () => {
    const { user } = await server().aMember()
    const { token } = server().owner()
    const answers = await Promise.all([put(server(), token, user.id, "suspend"), put(server(), token, user.id, "suspend")])
    expect(answers.map(({ body, status }) => [status, body])).toMatchObject([
      [200, { status: "suspended" }],
      [200, { status: "suspended" }]
    ])
    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
    expect(entries.map(({ diff }) => Object.keys(diff).length).toSorted()).toStrictEqual([0, 1])
    expect(await statusLog(server(), user.id)).toHaveLength(2)
  })
})

describeInterface("a status", (server) => {
  it("is changed by those who manage users, and not by those who only see them", async () => {
    const [member, other, auditor, admin] = await Promise.all([
      server().aMember(),
      server().aMember(),
      server().aMember({ rbac_roles: ["auditor"] }),
      server().aMember({ rbac_roles: ["user-admin"] })
    ])
    for (const change of ["suspend", "activate"] as const) {
      const statuses = [other, auditor, admin].map(async ({ token }) => (await put(server(), token, member.user.id, change)).status)
      expect(await Promise.all(statuses)).toStrictEqual([404, 403, 200])
    }
    const entries = await server().run(auditEntries({ resource_id: member.user.id, resource_type: "user" }))
    expect(entries.map(({ status_code, user_id }) => [user_id, status_code]).toSorted()).toStrictEqual(
      [
        [auditor.user.id, 403],
        [auditor.user.id, 403],
        [admin.user.id, 200],
        [admin.user.id, 200]
      ].toSorted()
    )
    expect((await put(server(), member.token, "me", "suspend")).status).toBe(403)
  })

  it("cannot become suspended for the actor or an owner", async () => {
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    const owner = await server().aMember({ rbac_roles: ["owner"] })
    expect((await put(server(), owner.token, "me", "suspend")).status).toBe(400)
    expect((await put(server(), admin.token, "me", "suspend")).status).toBe(400)
    expect((await put(server(), admin.token, owner.user.id, "suspend")).status).toBe(400)
    expect(await me(server(), owner.token)).toMatchObject({ status: 200, body: { status: "active" } })
  })

  it("of a deleted or unknown user is not there", async () => {
    const { token } = server().owner()
    const user = await server().run(
      Effect.tap(aUser({ deleted: true }), (user) => Effect.flatMap(UserRepository, ({ insert }) => insert(user, null)))
    )
    expect((await put(server(), token, user.id, "activate")).status).toBe(404)
    expect((await put(server(), token, "nobody", "suspend")).status).toBe(404)
  })
})
