import { ApiKeyRepository, PasswordHasher, UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { expect, it, vi } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, ownerPassword, type TestServer } from "../../../../../test/http/server.js"

const NewSession = Schema.Struct({ session_token: Schema.String })
const right = { email: "owner@example.com", password: ownerPassword }

const logIn = (server: TestServer, body: unknown = right, headers: Record<string, string> = {}) =>
  server.call("POST", "/users/login", { body, headers })

const store = (server: TestServer, fields: Parameters<typeof aUser>[0], hash: string | null) =>
  server.run(
    Effect.gen(function* () {
      const user = yield* aUser(fields)
      yield* (yield* UserRepository).insert(user, hash)
      return user
    })
  )

/** The first user's password hash, for other users of the test to log in with the same password. */
const ownerHash = (server: TestServer) =>
  server.run(
    Effect.flatMap(UserRepository, ({ byEmail }) =>
      Effect.map(Effect.flatten(byEmail(right.email)), ({ hashed_password }) => hashed_password)
    )
  )

describeInterface("a login", (server) => {
  it("finds the address in any case and returns a session of a day with a cookie", async () => {
    const answer = await logIn(server(), { ...right, email: "OWNER@Example.com", remember_me: true })
    expect(answer.status).toBe(201)
    const { session_token } = answer.as(NewSession)
    expect(session_token).toMatch(/^[0-9A-Za-z]{10}-[0-9A-Za-z]{22}$/)
    expect(answer.headers.getSetCookie().filter((cookie) => cookie.startsWith("service_session_token="))).toStrictEqual([
      `service_session_token=${session_token}; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax`
    ])
    const key = await server().call("GET", `/users/me/keys/${session_token.slice(0, 10)}`, { token: session_token })
    expect(key.body).toMatchObject({
      login_type: "password",
      lifetime_seconds: 86_400,
      scopes: ["coder:all"],
      scope: "all",
      token_name: "",
      user_id: server().owner().user.id,
      allow_list: [{ type: "*", id: "*" }]
    })
  })

  it("does not tell a wrong password from an unknown address", async () => {
    const { email } = await store(server(), { login_type: "oidc" }, null)
    const answers = await Promise.all([
      logIn(server(), { ...right, password: "wrong" }),
      logIn(server(), { ...right, email: "nobody@example.com" }),
      logIn(server(), { ...right, email })
    ])
    expect(answers.map(({ status }) => status)).toStrictEqual([401, 401, 401])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.flatMap(({ headers }) => headers.getSetCookie()).some((cookie) => cookie.includes("session_token"))).toBe(false)
  })

  it("does not take a username for an address", async () => {
    const answer = await logIn(server(), { ...right, email: "owner" })
    expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field: "email" }] }])
  })

  it("is refused to suspended users and other login types", async () => {
    const hash = await ownerHash(server())
    const converted = await store(server(), { login_type: "github" }, hash)
    const suspended = await store(server(), { status: "suspended" }, hash)
    const byGithub = await logIn(server(), { ...right, email: converted.email })
    const bySuspended = await logIn(server(), { ...right, email: suspended.email })
    expect([byGithub.status, bySuspended.status]).toStrictEqual([403, 401])
    expect(bySuspended.body).toMatchObject({ message: expect.stringContaining("suspended") })
  })

  it("wakes a dormant user, which is written down as the service's own doing", async () => {
    const dormant = await store(server(), { status: "dormant" }, await ownerHash(server()))
    expect((await logIn(server(), { ...right, email: dormant.email })).status).toBe(201)
    const woken = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(dormant.id))))
    expect(woken.status).toBe("active")
    expect(woken.last_seen_at > dormant.last_seen_at).toBe(true)
    const entries = await server().run(auditEntries({ resource_id: dormant.id }))
    expect(entries).toMatchObject([
      {
        action: "write",
        resource_type: "user",
        user_id: dormant.id,
        request_id: Uuid.nil,
        diff: { status: { old: "dormant", new: "active", secret: false } },
        additional_fields: { automatic_actor: "service", automatic_subsystem: "dormancy" }
      },
      { action: "login", resource_type: "api_key", user_id: dormant.id, diff: {} }
    ])
  })

  it("is audited with its status for known users only", async () => {
    const user = await store(server(), {}, await ownerHash(server()))
    await logIn(server(), { email: user.email, password: "wrong" }, { "user-agent": "test" })
    await logIn(server(), { email: "nobody@example.com", password: "wrong" }, { "user-agent": "unknown" })
    const ok = await logIn(server(), { email: user.email, password: ownerPassword }, { "user-agent": "test" })
    // A refused attempt is written after it was answered
    const entries = await vi.waitFor(
      async () => {
        const written = await server().run(auditEntries({ user_id: user.id }))
        expect(written).toHaveLength(2)
        return written
      },
      { timeout: 60_000 }
    )
    expect(entries.map(({ action, status_code, user_agent }) => [action, status_code, user_agent])).toStrictEqual([
      ["login", 401, "test"],
      ["login", 201, "test"]
    ])
    // A refused attempt is about no key
    expect(entries.map(({ resource_id }) => resource_id)).toStrictEqual([Uuid.nil, user.id])
    expect(entries[1]?.request_id).toBe(ok.headers.get("X-Service-Request-Id"))
    expect(await server().run(auditEntries({ user_agent: "unknown" }))).toStrictEqual([])
  })

  it("with a body that is too large, no JSON or of another shape has no effect", async () => {
    const large = await logIn(server(), { ...right, padding: "x".repeat(5 * 1024 * 1024) })
    expect([large.status, large.headers.getSetCookie().some((cookie) => cookie.includes("session"))]).toStrictEqual([413, false])
    for (const body of ["{", '"text"', '{"email": 7}']) {
      const answer = await logIn(server(), body)
      expect(answer.status).toBe(400)
      expect(answer.body).not.toHaveProperty("validations")
    }
  })
})

describeInterface(
  "a deployment without password logins",
  (server) => {
    it("refuses a right password with 403 and a wrong one with 401", async () => {
      await store(
        server(),
        { email: right.email },
        "$pbkdf2-sha256$1$c2FsdA$VawEblbjCJ/sFpHCJUS2BflBhSFt3gRl5oudV8INrLxJypzM8Xm2RZkWZLOdd+8xfHG4RbHjC9UJESBB06GXgw"
      )
      expect((await logIn(server(), { ...right, password: "passwd" })).status).toBe(403)
      expect((await logIn(server(), { ...right, password: "wrong" })).status).toBe(401)
    })
  },
  { empty: true, options: { disablePasswordAuth: true } }
)

describeInterface("a logout", (server) => {
  it("ends its own session and the keys for applications only", async () => {
    const [first, second, other] = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
    const again = await server().call("POST", "/users/me/keys", { token: first.token })
    const stays = again.as(Schema.Struct({ key: Schema.String })).key
    const connect = { token_name: "connect", scope: "application_connect" }
    const ofFirst = await server().call("POST", "/users/me/keys/tokens", { token: first.token, body: connect })
    const ofOther = await server().call("POST", "/users/me/keys/tokens", { token: other.token, body: connect })
    expect([ofFirst.status, ofOther.status]).toStrictEqual([201, 201])

    const answer = await server().call("POST", "/users/logout", { token: first.token })
    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie().filter((cookie) => cookie.startsWith("service_session_token="))).toStrictEqual([
      "service_session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"
    ])
    const me = async (token: string) => (await server().call("GET", "/users/me", { token })).status
    expect(await Promise.all([first.token, stays, second.token, other.token].map(me))).toStrictEqual([401, 200, 200, 200])
    const names = (id: Uuid.Uuid) => server().run(Effect.flatMap(ApiKeyRepository, ({ byName }) => byName(id, "connect")))
    expect([(await names(first.user.id))._tag, (await names(other.user.id))._tag]).toStrictEqual(["None", "Some"])
    expect((await server().run(auditEntries({ resource_id: first.user.id }))).at(-1)).toMatchObject({ action: "logout", status_code: 200 })
  })

  it("needs the right to delete one's keys", async () => {
    const member = await server().aMember()
    const token = await server().call("POST", "/users/me/keys/tokens", { token: member.token, body: { scopes: ["user:read"] } })
    const { key } = token.as(Schema.Struct({ key: Schema.String }))
    expect((await server().call("POST", "/users/logout", { token: key })).status).toBe(403)
    expect((await server().call("GET", "/users/me", { token: key })).status).toBe(200)
    expect((await server().run(auditEntries({ resource_id: member.user.id }))).at(-1)).toMatchObject({ action: "logout", status_code: 403 })
  })
})

describeServerOnEach("a login with an older hash of the password", (server, once) => {
  const pbkdf2 = Effect.flatMap(PasswordHasher, ({ hash }) => hash(Redacted.make(ownerPassword))).pipe(
    Effect.provide(PasswordHasher.layerPbkdf2(100))
  )
  const hashOf = (email: string) =>
    server().run(
      Effect.flatMap(UserRepository, ({ byEmail }) => Effect.map(Effect.flatten(byEmail(email)), ({ hashed_password }) => hashed_password))
    )

  once("replaces it by one of the present kind, and keeps the user's sessions", async () => {
    const older = await server().run(pbkdf2)
    const { email } = await store(server(), {}, older)
    expect((await logIn(server(), { email, password: "AWrongPassword!2" })).status).toBe(401)
    expect(await hashOf(email)).toBe(older)
    const first = await logIn(server(), { ...right, email })
    expect(first.status).toBe(201)
    const replaced = await hashOf(email)
    expect(replaced).toMatch(/^\$argon2id\$/)
    expect((await logIn(server(), { ...right, email })).status).toBe(201)
    expect(await hashOf(email)).toBe(replaced)
    const { session_token: token } = first.as(NewSession)
    expect((await server().call("GET", "/users/me", { token })).status).toBe(200)
  })

  it("admits every concurrent login", async () => {
    const { email } = await store(server(), {}, await server().run(pbkdf2))
    const logins = await Promise.all(Array.from({ length: 8 }, () => logIn(server(), { ...right, email })))
    expect(logins.map(({ status }) => status)).toStrictEqual(Array.from({ length: 8 }, () => 201))
  })
})
