import { AccountRepository, PasswordHasher, type User, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"

const former = "AFormerPassword!1"
const next = "TheNextPassword!2"

const stored = (user: User, hash: string | null) =>
  Effect.as(
    Effect.flatMap(UserRepository, ({ insert }) => insert(user, hash)),
    user
  )

/** A member who logged in with a password. */
const somebody = async (server: TestServer, fields: Parameters<typeof aUser>[0] = {}) => {
  const user = await server.run(
    Effect.gen(function* () {
      const user = yield* aUser(fields)
      const organizations = yield* OrganizationRepository
      const organization = yield* Effect.flatten(organizations.default)
      yield* stored(user, yield* (yield* PasswordHasher).hash(Redacted.make(former)))
      yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: yield* Timestamp.now })
      return user
    })
  )
  const login = await logIn(server, user.email, former)
  return { user, token: login.as(Schema.Struct({ session_token: Schema.String })).session_token }
}

const logIn = (server: TestServer, email: string, password: string) => server.call("POST", "/users/login", { body: { email, password } })

const put = (server: TestServer, token: string, user: string, body: object) =>
  server.call("PUT", `/users/${user}/password`, { token, body })

const fieldOf = ({ body, status }: { readonly status: number; readonly body: unknown }) => {
  const { validations } = Schema.decodeUnknownSync(
    Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) })
  )(body)
  return [status, validations?.[0]?.field]
}

describeServerOnEach("a change of one's password", (server, once) => {
  once("ends every session and token of that user only", async () => {
    const [ada, other] = [await somebody(server()), await somebody(server())]
    const again = (await logIn(server(), ada.user.email, former)).as(Schema.Struct({ session_token: Schema.String })).session_token
    const made = await server().call("POST", "/users/me/keys/tokens", { token: ada.token, body: {} })
    const { key } = made.as(Schema.Struct({ key: Schema.String }))

    expect(await put(server(), ada.token, "me", { old_password: former, password: next })).toMatchObject({ status: 204, text: "" })
    const statuses = [ada.token, again, key, other.token].map(async (token) => (await server().call("GET", "/users/me", { token })).status)
    expect(await Promise.all(statuses)).toStrictEqual([401, 401, 401, 200])
    expect((await logIn(server(), ada.user.email, former)).status).toBe(401)
    expect((await logIn(server(), ada.user.email, next)).status).toBe(201)
    const [entry] = await server().run(auditEntries({ resource_id: ada.user.id, resource_type: "user" }))
    expect(entry).toMatchObject({
      action: "write",
      resource_type: "user",
      status_code: 204,
      user_id: ada.user.id,
      diff: { hashed_password: { secret: true } }
    })
    expect(Object.keys(entry?.diff ?? {})).toStrictEqual(["hashed_password"])
  })

  once("needs the password in use and a strong one that is another", async () => {
    const { token, user } = await somebody(server())
    const answer = async (body: object) => fieldOf(await put(server(), token, "me", body))
    expect(await answer({})).toStrictEqual([400, "password"])
    expect(await answer({ password: next })).toStrictEqual([400, "old_password"])
    expect(await answer({ password: "newpassword", old_password: "wrong" })).toStrictEqual([400, "password"])
    expect(await answer({ password: next, old_password: "wrong" })).toStrictEqual([400, "old_password"])
    // Clients look for this text
    expect(await put(server(), token, "me", { password: former, old_password: former })).toMatchObject({
      status: 400,
      body: { message: "New password cannot match old password." }
    })
    expect((await server().call("GET", "/users/me", { token })).status).toBe(200)
    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
    expect(entries.map(({ action, diff, status_code }) => [action, status_code, diff])).toStrictEqual(
      Array.from({ length: 5 }, () => ["write", 400, {}])
    )
  })

  it("succeeds once for concurrent callers", async () => {
    const { token, user } = await somebody(server())
    const passwords = ["TheNextPassword!3", "TheNextPassword!4", "TheNextPassword!5"]
    const answers = await Promise.all(passwords.map((password) => put(server(), token, "me", { old_password: former, password })))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    // The others find the password changed, or their session ended
    expect(statuses.every((status) => [204, 400, 401, 409].includes(status))).toBe(true)
    expect((await logIn(server(), user.email, passwords[statuses.indexOf(204)] ?? "")).status).toBe(201)
  })
})

describeInterface("a reset of somebody's password", (server) => {
  it("needs the right to manage users, for owners an owner; others get 404", async () => {
    const [member, admin, auditor, owner] = await Promise.all([
      somebody(server()),
      server().aMember({ rbac_roles: ["user-admin"] }),
      server().aMember({ rbac_roles: ["auditor"] }),
      somebody(server(), { rbac_roles: ["owner"] })
    ])
    const status = async (token: string, user: string, body: object = { password: next }) => (await put(server(), token, user, body)).status
    expect(await status(member.token, owner.user.id)).toBe(404)
    expect(await status(auditor.token, member.user.id)).toBe(404)
    expect(await status(admin.token, owner.user.id)).toBe(400)
    expect(await status(admin.token, owner.user.id, {})).toBe(400)
    expect((await server().call("GET", "/users/me", { token: owner.token })).status).toBe(200)
    expect(await status(admin.token, member.user.id, { password: next, old_password: "wrong" })).toBe(400)
    expect(await status(admin.token, member.user.username)).toBe(204)
    expect((await server().call("GET", "/users/me", { token: member.token })).status).toBe(401)
    expect(await status(server().owner().token, owner.user.id)).toBe(204)
    expect((await logIn(server(), owner.user.email, next)).status).toBe(201)
  })

  it("is not for accounts that log in otherwise, nor for deleted ones", async () => {
    const { token } = server().owner()
    const oidc = await server().aMember({ login_type: "oidc" })
    const deleted = await server().run(Effect.flatMap(aUser({ deleted: true }), (user) => stored(user, null)))
    expect((await put(server(), token, oidc.user.id, { password: next })).status).toBe(400)
    expect((await put(server(), token, deleted.id, { password: next })).status).toBe(404)
    expect((await logIn(server(), oidc.user.email, next)).status).toBe(401)
  })
})

describeInterface("a login", (server) => {
  it("that began before a password change leaves no session", async () => {
    const { user } = await somebody(server())
    const hash = await server().run(Effect.flatMap(PasswordHasher, (hasher) => hasher.hash(Redacted.make(next))))
    const logins = Array.from({ length: 8 }, () => logIn(server(), user.email, former))
    await Promise.race(logins)
    // The rest still waits for its turn to be verified
    await server().run(
      Effect.gen(function* () {
        yield* (yield* AccountRepository).updatePassword(user.id, hash, yield* Timestamp.now)
      })
    )
    const statuses = (await Promise.all(logins)).map(async ({ body, status }) => {
      if (status !== 201) return status
      const { session_token: token } = Schema.decodeUnknownSync(Schema.Struct({ session_token: Schema.String }))(body)
      return (await server().call("GET", "/users/me", { token })).status
    })
    expect(await Promise.all(statuses)).toStrictEqual(Array.from({ length: 8 }, () => 401))
  })
})

describeInterface(
  "changes of passwords",
  (server) => {
    it("are counted by the limiter of logins", async () => {
      const answer = await put(server(), server().owner().token, "me", {})
      expect([answer.status, answer.headers.get("X-RateLimit-Limit")]).toStrictEqual([400, "60"])
    })

    it("are counted for the user, whichever way the path names it", async () => {
      const { token, user } = await server().aMember()
      const names = ["me", user.username, user.username.toUpperCase(), user.id, `%${user.id.charCodeAt(0).toString(16)}${user.id.slice(1)}`]
      const left: Array<string | null> = []
      for (const name of names)
        left.push((await put(server(), token, name, { old_password: "wrong" })).headers.get("X-RateLimit-Remaining"))
      expect(left).toStrictEqual(["59", "58", "57", "56", "55"])
    })
  },
  { options: { dangerousDisableRateLimits: false } }
)
