import { SqlClient } from "@effect/sql"
import { type ApiKey, ApiKeyRepository, SessionRepository, UserRepository } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aStoredKey } from "../../../../../test/records/keys.js"
import { describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"

/** A stored key of a user, with the fields that a test needs. */
const aKey = (server: TestServer, { user }: Person, fields?: (now: Timestamp.Timestamp) => Partial<ApiKey>) =>
  server.run(Effect.map(aStoredKey(user, fields), ({ id, key }) => ({ id, token: Redacted.value(key) })))

const keyOf = (server: TestServer, id: string) => server.run(Effect.flatMap(ApiKeyRepository, ({ byId }) => Effect.flatten(byId(id))))

/** What no operation does yet. */
const change = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

const setRoles = (server: TestServer, id: string, roles: ReadonlyArray<string>) =>
  change(server, (sql) => sql`UPDATE users SET rbac_roles = ${JSON.stringify(roles)} WHERE id = ${id}`)

const me = (server: TestServer, token: string) => server.call("GET", "/users/me", { token })

const minutes = (from: Timestamp.Timestamp, to: Timestamp.Timestamp) =>
  Math.round((Timestamp.toMillis(to) - Timestamp.toMillis(from)) / 60_000)

describeServerOnEach("a credential", (server, once) => {
  once("is needed, and refused without saying why, for users that do not exist too", async () => {
    const member = await server().aMember()
    const key = await aKey(server(), member)
    const wrong = `${key.id}-${"x".repeat(22)}`
    for (const path of ["/users/me", "/users/nobody", "/organizations", `/users/me/keys/${key.id}`]) {
      const anonymous = await server().call("GET", path)
      expect(anonymous.status).toBe(401)
      expect(anonymous.headers.get("WWW-Authenticate")).toBe(
        'Bearer realm="service", resource_metadata="http://atelier.test/.well-known/oauth-protected-resource"'
      )
    }
    const refused = await Promise.all([wrong, `unknownkey-${"x".repeat(22)}`, "nonsense"].map((token) => me(server(), token)))
    expect(refused.map(({ status }) => status)).toStrictEqual([401, 401, 401])
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1)
    expect((await me(server(), key.token)).status).toBe(200)
  })

  once("is read from the cookie, query, header and bearer token, in that order", async () => {
    const { token, user } = await server().aMember()
    const get = async (path: string, headers: Record<string, string>) => (await server().call("GET", path, { headers })).status
    expect(await get("/users/me", { cookie: `service_session_token=${token}` })).toBe(200)
    expect(await get(`/users/me?service_session_token=${token}`, {})).toBe(200)
    expect(await get("/users/me", { "service-session-token": token })).toBe(200)
    expect(await get("/users/me", { authorization: `bearer  ${token} ` })).toBe(200)
    expect(await get(`/users/me?access_token=${token}`, {})).toBe(401)
    expect(await get("/users/me", { "service-session-token": token, cookie: "service_session_token=wrong" })).toBe(401)
    expect(await get("/users/first", { "service-session-token": "stale" })).toBe(200)
    expect((await server().call("GET", `/users/${user.username.toUpperCase()}`, { token })).body).toMatchObject({ id: user.id })
  })

  once("in a cookie does not let other sites' pages act", async () => {
    const { token } = await server().aMember()
    const post = (headers: Record<string, string>) =>
      server().call("POST", "/users/me/keys", { headers: { cookie: `service_session_token=${token}`, ...headers } })
    const forged = await post({})
    expect([forged.status, forged.body]).toMatchObject([400, { message: expect.stringContaining("cookie") }])
    expect((await post({ "service-session-token": token })).status).toBe(201)
  })

  once("that has expired says since when, one that was deleted does not", async () => {
    const member = await server().aMember()
    const expired = await aKey(server(), member, (now) => ({ expires_at: Timestamp.minus(now, "1 second") }))
    const deleted = await aKey(server(), member)
    expect((await server().call("DELETE", `/users/me/keys/${deleted.id}`, { token: member.token })).status).toBe(204)
    const { expires_at } = await keyOf(server(), expired.id)
    expect([(await me(server(), expired.token)).status, (await me(server(), expired.token)).body]).toMatchObject([
      401,
      { detail: expect.stringContaining(expires_at) }
    ])
    expect((await me(server(), deleted.token)).body).not.toHaveProperty("detail")
  })

  once("of a deleted user is unknown", async () => {
    const { token, user } = await server().aMember()
    await change(server(), (sql) => sql`UPDATE users SET deleted = (1 = 1) WHERE id = ${user.id}`)
    const refused = await me(server(), token)
    expect([refused.status, refused.text]).toStrictEqual([401, (await me(server(), "nonsense")).text])
  })

  once("of a suspended user is refused, saying so, and works again afterwards", async () => {
    const { token, user } = await server().aMember()
    const move = (from: "active" | "suspended", to: "active" | "suspended") =>
      server().run(
        Effect.flatMap(UserRepository, ({ updateStatus }) => Effect.flatMap(Timestamp.now, (now) => updateStatus(user.id, from, to, now)))
      )
    await move("active", "suspended")
    const refused = await me(server(), token)
    expect([refused.status, refused.body]).toMatchObject([401, { message: expect.stringContaining("suspended") }])
    await move("suspended", "active")
    expect((await me(server(), token)).status).toBe(200)
  })

  it("of a dormant user activates the user, once for concurrent requests", async () => {
    const { token, user } = await server().aMember({ status: "dormant" })
    const answers = await Promise.all(Array.from({ length: 5 }, () => me(server(), token)))
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200, 200, 200])
    expect((await me(server(), token)).body).toMatchObject({ status: "active" })
    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
    expect(entries.map(({ action, additional_fields }) => [action, additional_fields["automatic_subsystem"]])).toStrictEqual([
      ["write", "dormancy"]
    ])
  })

  it("is judged for each request, with what is stored then", async () => {
    const person = await server().aMember()
    const key = await aKey(server(), person, (now) => ({ last_used: now }))
    // The second request of two is one of a session that is known
    const statuses = async () => [(await me(server(), key.token)).status, (await me(server(), key.token)).status]
    const secondOf = (token: string) => `${key.id}-${token.slice(-22)}`
    expect(await statuses()).toStrictEqual([200, 200])
    expect((await me(server(), secondOf(person.token))).status).toBe(401)
    await change(server(), (sql) => sql`UPDATE api_keys SET scopes = '["file:read"]' WHERE id = ${key.id}`)
    expect(await statuses()).toStrictEqual([404, 404])
    await change(server(), (sql) => sql`UPDATE api_keys SET scopes = '["coder:all"]', dpop_jkt = 'bound' WHERE id = ${key.id}`)
    expect(await statuses()).toStrictEqual([401, 401])
    await change(server(), (sql) => sql`UPDATE api_keys SET dpop_jkt = NULL, audience = '["http://elsewhere.test"]' WHERE id = ${key.id}`)
    expect(await statuses()).toStrictEqual([401, 401])
    await change(server(), (sql) => sql`UPDATE api_keys SET audience = NULL WHERE id = ${key.id}`)
    await change(server(), (sql) => sql`UPDATE users SET name = 'Renamed' WHERE id = ${person.user.id}`)
    expect(await statuses()).toStrictEqual([200, 200])
    expect((await me(server(), key.token)).body).toMatchObject({ name: "Renamed" })
    server().advance("25 hours")
    expect(await statuses()).toStrictEqual([401, 401])
  })

  once("acts with the roles that its user has now", async () => {
    const { token, user } = await server().aMember()
    const other = await server().aMember()
    const seen = async () => (await server().call("GET", `/users/${other.user.id}`, { token })).status
    expect(await seen()).toBe(404)
    await setRoles(server(), user.id, ["auditor"])
    expect(await seen()).toBe(200)
    await setRoles(server(), user.id, [])
    expect(await seen()).toBe(404)
  })
})

describeServerOnEach("using a session", (server, once) => {
  once("extends it by its lifetime once an hour of it has passed", async () => {
    const member = await server().aMember()
    const used = (now: Timestamp.Timestamp) => ({ last_used: now })
    const late = await aKey(server(), member, (now) => ({ ...used(now), expires_at: Timestamp.plus(now, "1379 minutes") }))
    const early = await aKey(server(), member, (now) => ({ ...used(now), expires_at: Timestamp.plus(now, "1410 minutes") }))
    const token = await aKey(server(), member, (now) => ({
      ...used(now),
      expires_at: Timestamp.plus(now, "1 minute"),
      login_type: "token",
      token_name: "t"
    }))
    for (const key of [late, early, token]) expect((await me(server(), key.token)).status).toBe(200)
    const now = await server().run(Timestamp.now)
    const left = async (id: string) => minutes(now, (await keyOf(server(), id)).expires_at)
    expect([await left(late.id), await left(early.id), await left(token.id)]).toStrictEqual([1440, 1410, 1])
  })

  once("is written down hourly, with the address and when the user was seen", async () => {
    const member = await server().aMember()
    const key = await aKey(server(), member)
    await me(server(), key.token)
    const first = await keyOf(server(), key.id)
    expect([first.last_used >= first.created_at, first.ip, first.updated_at]).toStrictEqual([true, "127.0.0.1", first.created_at])
    server().advance("59 minutes")
    await me(server(), key.token)
    expect((await keyOf(server(), key.id)).last_used).toBe(first.last_used)
    server().advance("2 minutes")
    await me(server(), key.token)
    const second = await keyOf(server(), key.id)
    expect(minutes(first.last_used, second.last_used)).toBe(61)
    const user = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(member.user.id))))
    expect([user.last_seen_at, user.updated_at]).toStrictEqual([second.last_used, second.last_used])
  })

  it("is written down by one of the requests that come at once", async () => {
    const member = await server().aMember()
    const key = await aKey(server(), member)
    const applied = await server().run(
      Effect.gen(function* () {
        const sessions = yield* SessionRepository
        const session = yield* Effect.flatten(sessions.byKeyId(key.id))
        const now = yield* Timestamp.now
        const later = Timestamp.plus(now, "1 second")
        yield* sessions.recordUse(session, { last_used: now, ip: "192.0.2.1", expires_at: session.expires_at }, now)
        yield* sessions.recordUse(session, { last_used: later, ip: "192.0.2.2", expires_at: session.expires_at }, later)
        return now
      })
    )
    expect(await keyOf(server(), key.id)).toMatchObject({ last_used: applied, ip: "192.0.2.1" })
  })
})
