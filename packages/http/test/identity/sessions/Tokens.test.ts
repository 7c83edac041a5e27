import { SqlClient } from "@effect/sql"
import { externalScopes, prebuildsUserId } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, describeServer, describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"

const NewKey = Schema.Struct({ key: Schema.String })
const Tokens = Schema.Array(Schema.Struct({ id: Schema.String, token_name: Schema.String, username: Schema.String }))

const hour = 3_600_000_000_000
const workspace = "0d4e1d3c-0000-7000-8000-000000000001"

const sqlClient = Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))

const create = (server: TestServer, { token }: Pick<Person, "token">, body: object, user = "me") =>
  server.call("POST", `/users/${user}/keys/tokens`, { token, body })

/** A token, and who holds it. */
const aToken = async (server: TestServer, person: Person, body: object) => {
  const answer = await create(server, person, body)
  expect(answer.status).toBe(201)
  return { ...person, token: answer.as(NewKey).key }
}

const shown = async (server: TestServer, { token }: Person, name: string) =>
  (await server.call("GET", `/users/me/keys/tokens/${name}`, { token })).body

const names = async (server: TestServer, { token }: Person, query = "", user = "me") =>
  (await server.call("GET", `/users/${user}/keys/tokens${query}`, { token })).as(Tokens).map(({ token_name }) => token_name)

describeServerOnEach("a token", (server, once) => {
  once("is shown once, and is never in the list", async () => {
    const member = await server().aMember()
    const answer = await create(server(), member, { token_name: "ci" })
    const { key } = answer.as(NewKey)
    expect(key).toMatch(/^[0-9A-Za-z]{10}-[0-9A-Za-z]{22}$/)
    const list = await server().call("GET", "/users/me/keys/tokens", { token: member.token })
    expect(list.text).not.toContain(key.slice(11))
    expect(list.body).toMatchObject([
      {
        id: key.slice(0, 10),
        token_name: "ci",
        login_type: "token",
        username: member.user.username,
        user_id: member.user.id,
        last_used: "1970-01-01T00:00:00.000Z"
      }
    ])
    expect(list.body).not.toHaveProperty([0, "hashed_secret"])
    expect(list.body).not.toHaveProperty([0, "ip"])
    expect((await server().call("GET", "/users/me", { token: key })).status).toBe(200)
    expect((await server().call("GET", "/users/me", { token: `${key.slice(0, 11)}${"x".repeat(22)}` })).status).toBe(401)
  })

  once("without a name gets a random one, and a name of its user only once", async () => {
    const member = await server().aMember()
    const other = await server().aMember()
    await aToken(server(), member, {})
    expect(await names(server(), member)).toStrictEqual([expect.stringMatching(/^[a-z]+_[a-z]+\d\d$/)])

    await aToken(server(), member, { token_name: "ci" })
    await aToken(server(), other, { token_name: "ci" })
    const again = await create(server(), member, { token_name: "ci" })
    expect([again.status, again.body]).toMatchObject([409, { validations: [{ field: "name" }] }])
    const { id } = (await server().call("GET", "/users/me/keys/tokens/ci", { token: member.token })).as(
      Schema.Struct({ id: Schema.String })
    )
    expect((await server().call("DELETE", `/users/me/keys/${id}`, { token: member.token })).status).toBe(204)
    expect((await server().call("GET", `/users/me/keys/${id}`, { token: member.token })).status).toBe(404)
    expect((await server().call("DELETE", `/users/me/keys/${id}`, { token: member.token })).status).toBe(404)
    await aToken(server(), member, { token_name: "ci" })
  })

  it("of one name is created by one of concurrent calls", async () => {
    const member = await server().aMember()
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(server(), member, { token_name: "race" })))
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409, 409, 409])
  })

  once("counts towards the 10,000 keys of its user, with any creator", async () => {
    const member = await server().aMember()
    const id = member.token.slice(0, 10)
    await server().run(
      Effect.flatMap(
        sqlClient,
        (sql) => sql`INSERT INTO api_keys (id, user_id, hashed_secret, created_at, updated_at, last_used, expires_at, lifetime_seconds,
            login_type, ip, token_name, scopes, allow_list)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9936)
          SELECT id || i, user_id, hashed_secret, created_at, updated_at, last_used, expires_at, lifetime_seconds,
            login_type, ip, token_name || i, scopes, allow_list
          FROM api_keys CROSS JOIN n WHERE id = ${id}`
      )
    )
    // The server counts again after 64 keys that it has issued, the session included
    const made = await Promise.all(Array.from({ length: 63 }, () => aToken(server(), member, {})))
    const last = made[0]?.token.slice(0, 10)
    expect((await create(server(), member, {})).status).toBe(400)
    expect((await create(server(), server().owner(), {}, member.user.id)).status).toBe(400)
    expect((await server().call("POST", "/users/me/keys", { token: member.token })).status).toBe(400)
    expect((await server().call("DELETE", `/users/me/keys/${last}`, { token: member.token })).status).toBe(204)
    await aToken(server(), member, {})
  })

  once.each([
    [["coder:apikeys.manage_self"], ["/users/me/keys/tokens"], ["/users/me/secrets"]],
    [["api_key:*"], ["/users/me/keys/tokens", "/users/me/keys/tokens/tokenconfig"], ["/users/me/secrets"]],
    [["user_secret:*"], ["/users/me/secrets"], ["/users/me/keys/tokens"]]
  ])("of the scopes %j works for its own user if it may read the user", async (scopes, allowed, refused) => {
    const [member, other] = [await server().aMember(), await server().aMember()]
    const { key } = (await create(server(), member, { scopes: [...scopes, "user:read"] })).as(NewKey)
    const { key: blind } = (await create(server(), member, { scopes })).as(NewKey)
    for (const path of allowed) {
      expect([path, (await server().call("GET", path, { token: blind })).status]).toStrictEqual([path, 404])
      for (const user of ["me", member.user.id, member.user.username]) {
        const own = path.replace("me", user)
        expect([own, (await server().call("GET", own, { token: key })).status]).toStrictEqual([own, 200])
      }
      const theirs = path.replace("me", other.user.id)
      expect([theirs, (await server().call("GET", theirs, { token: key })).status]).toStrictEqual([theirs, 404])
    }
    const lists = await Promise.all(refused.map(async (path) => [path, await server().call("GET", path, { token: key })] as const))
    for (const [path, { body, status }] of lists)
      expect([path, status === 200 && body]).not.toStrictEqual([path, expect.objectContaining({ id: member.user.id })])
  })

  once("lives for a week, or the requested time within its user's bound", async () => {
    const member = await server().aMember()
    const owner = server().owner()
    await aToken(server(), member, { token_name: "week" })
    await aToken(server(), member, { token_name: "short", lifetime: 90 * 60 * 1_000_000_000 })
    expect(await shown(server(), member, "week")).toMatchObject({ lifetime_seconds: 604_800 })
    expect(await shown(server(), member, "short")).toMatchObject({ lifetime_seconds: 5_400 })
    const config = async ({ token }: Person, user = "me") =>
      (await server().call("GET", `/users/${user}/keys/tokens/tokenconfig`, { token })).body
    expect(await config(member)).toStrictEqual({ max_token_lifetime: 876_600 * hour })
    expect(await config(owner)).toStrictEqual({ max_token_lifetime: 168 * hour })
    expect(await config(owner, member.user.username)).toStrictEqual({ max_token_lifetime: 876_600 * hour })

    await aToken(server(), member, { lifetime: 876_600 * hour })
    await aToken(server(), owner, { lifetime: 168 * hour })
    const statuses = await Promise.all(
      [168 * hour + 1, -1, 1e300].map(async (lifetime) => {
        const answer = await create(server(), owner, { lifetime })
        expect(answer.body).not.toHaveProperty("validations")
        return answer.status
      })
    )
    expect(statuses).toStrictEqual([400, 400, 400])
    const written = (lifetime: string) =>
      server().call("POST", "/users/me/keys/tokens", { token: member.token, body: `{"lifetime":${lifetime}}` })
    // The bound, and a nanosecond more: the nearest number of JavaScript is the same for both
    expect((await written("3155760000000000000")).status).toBe(201)
    for (const lifetime of [
      "3155760000000000001",
      "-3155760000000000001",
      "9223372036854775808",
      '"3155760000000000"',
      "31557600000000000e2"
    ]) {
      expect([lifetime, (await written(lifetime)).status]).toStrictEqual([lifetime, lifetime.endsWith("e2") ? 201 : 400])
    }
    for (const lifetime of ["1h", 1.5]) {
      const answer = await create(server(), owner, { lifetime })
      expect(answer.status).toBe(400)
      expect(answer.body).not.toHaveProperty("validations")
    }
  })

  once("that has expired is listed on demand and keeps its name", async () => {
    const member = await server().aMember()
    await aToken(server(), member, { token_name: "old", lifetime: 1_000_000 })
    await aToken(server(), member, { token_name: "fresh" })
    await expect.poll(() => names(server(), member)).toStrictEqual(["fresh"])
    expect(await names(server(), member, "?include_expired=true")).toStrictEqual(["old", "fresh"])
    expect(await names(server(), member, "?include_expired=maybe")).toStrictEqual(["fresh"])
    expect((await create(server(), member, { token_name: "old" })).status).toBe(409)
  })

  once("that is ended is refused at once, once and for all, and keeps its name", async () => {
    const member = await server().aMember()
    const token = await aToken(server(), member, { token_name: "ended", scopes: ["user:read"] })
    const id = token.token.slice(0, 10)
    const expire = async ({ token }: Pick<Person, "token">) => (await server().call("PUT", `/users/me/keys/${id}/expire`, { token })).status
    const Expiring = Schema.Struct({ expires_at: Schema.String })
    const end = async () => (await server().call("GET", `/users/me/keys/${id}`, { token: member.token })).as(Expiring).expires_at
    const until = await end()
    expect(await Promise.all([expire(token), expire(await server().aMember()), expire({ token: "none" })])).toStrictEqual([404, 404, 401])
    expect(await end()).toBe(until)

    expect(await Promise.all(Array.from({ length: 3 }, () => expire(member)))).toStrictEqual([204, 204, 204])
    const ended = await end()
    expect(ended < until).toBe(true)
    const refused = await server().call("GET", "/users/me", { token: token.token })
    expect([refused.status, refused.body]).toMatchObject([401, { detail: expect.stringContaining(ended) }])
    expect(await names(server(), member)).toStrictEqual([])
    expect(await names(server(), member, "?include_expired=true")).toStrictEqual(["ended"])
    expect((await create(server(), member, { token_name: "ended" })).status).toBe(409)
    server().advance("1 second")
    expect([await expire(server().owner()), await end()]).toStrictEqual([204, ended])
    expect((await server().call("PUT", "/users/me/keys/nosuchkey0/expire", { token: member.token })).status).toBe(404)

    const entries = await server().run(auditEntries({ resource_id: member.user.id }))
    expect(
      entries
        .filter(({ action }) => action === "write")
        .map(({ diff, resource_target, resource_type, status_code }) => [resource_type, resource_target, status_code, diff])
    ).toStrictEqual([["api_key", "ended", 204, { expires_at: { old: until, new: ended, secret: false } }]])
  })

  once("has the requested scopes, by their canonical names", async () => {
    const member = await server().aMember()
    const scopes = async (body: object) => {
      const name = `t${Math.random()}`
      await aToken(server(), member, { ...body, token_name: name })
      return shown(server(), member, name)
    }
    expect(await scopes({})).toMatchObject({ scope: "all", scopes: ["coder:all"] })
    expect(await scopes({ scope: "all" })).toMatchObject({ scope: "all", scopes: ["coder:all"] })
    expect(await scopes({ scopes: ["all", "coder:all"] })).toMatchObject({ scope: "all", scopes: ["coder:all"] })
    expect(await scopes({ scope: "application_connect", scopes: [] })).toMatchObject({
      scope: "application_connect",
      scopes: ["coder:application_connect"]
    })
    expect(await scopes({ scopes: ["workspace:read"], scope: "all" })).toMatchObject({ scope: "", scopes: ["workspace:read"] })
    const refused = await create(server(), member, { scopes: ["workspace:read", "debug_info:read"] })
    expect([refused.status, refused.body]).toMatchObject([400, { detail: expect.stringContaining("debug_info:read") }])
    expect((await create(server(), member, { scope: "nonsense" })).status).toBe(400)
  })

  once("has a normalised allow list of at most 128 entries", async () => {
    const member = await server().aMember()
    const list = async (allow_list: ReadonlyArray<unknown>) => {
      const name = `t${Math.random()}`
      await aToken(server(), member, { allow_list, token_name: name })
      return (await server().call("GET", `/users/me/keys/tokens/${name}`, { token: member.token })).as(
        Schema.Struct({ allow_list: Schema.Array(Schema.Struct({ type: Schema.String, id: Schema.String })) })
      ).allow_list
    }
    const entry = { type: "workspace", id: workspace }
    expect(await list([])).toStrictEqual([{ type: "*", id: "*" }])
    expect(await list([entry, { type: "workspace", id: "*" }, entry])).toStrictEqual([{ type: "workspace", id: "*" }])
    expect(await list([`workspace:${workspace.toUpperCase()}`, "template:*"])).toStrictEqual([{ type: "template", id: "*" }, entry])
    const refuse = async (allow_list: ReadonlyArray<unknown>) => (await create(server(), member, { allow_list })).status
    expect(await refuse(Array.from({ length: 129 }, () => entry))).toBe(400)
    expect(await refuse([{ type: "spaceship", id: "*" }])).toBe(400)
    expect(await refuse([{ type: "workspace", id: "7" }])).toBe(400)
    expect(await refuse(["workspace"])).toBe(400)
  })

  once("can be used only within its scopes and its allow list", async () => {
    const member = await server().aMember()
    const get = async ({ token }: Person) => (await server().call("GET", "/users/me", { token })).status
    expect(await get(await aToken(server(), member, { scopes: ["coder:application_connect"] }))).toBe(404)
    expect(await get(await aToken(server(), member, { scopes: ["user:read"] }))).toBe(200)
    expect(await get(await aToken(server(), member, { allow_list: [{ type: "workspace", id: workspace }] }))).toBe(404)
    expect(await get(await aToken(server(), member, { allow_list: [{ type: "user", id: member.user.id }] }))).toBe(200)
  })

  once("makes no token that can do more than itself", async () => {
    const member = await server().aMember()
    const readsUsers = await aToken(server(), member, { scopes: ["user:read"] })
    expect((await create(server(), readsUsers, { scopes: ["user:read"] })).status).toBe(403)

    const manages = await aToken(server(), member, { scopes: ["user:read", "coder:apikeys.manage_self"] })
    expect((await create(server(), manages, { scopes: ["user:read", "api_key:read"] })).status).toBe(201)
    for (const body of [{}, { scopes: ["coder:all"] }, { scopes: ["user:read", "workspace:read"] }]) {
      const answer = await create(server(), manages, body)
      expect([answer.status, answer.body]).toMatchObject([403, { validations: [{ field: "scopes" }] }])
    }
    expect((await server().call("POST", "/users/me/keys", { token: manages.token })).status).toBe(403)

    const limited = await aToken(server(), member, { allow_list: ["user:*", "api_key:*"] })
    expect((await create(server(), limited, {})).body).toMatchObject({ validations: [{ field: "allow_list" }] })
    expect((await create(server(), limited, { allow_list: [`user:${member.user.id}`] })).status).toBe(201)
  })

  once("is audited when it is created and deleted", async () => {
    const member = await server().aMember()
    const token = await aToken(server(), member, { token_name: "audited" })
    await create(server(), member, { token_name: "audited" })
    await server().call("DELETE", `/users/me/keys/${token.token.slice(0, 10)}`, { token: member.token })
    const entries = await server().run(auditEntries({ resource_id: member.user.id }))
    expect(
      entries
        .filter(({ resource_target }) => resource_target === "audited")
        .map(({ action, diff, status_code, user_id }) => [action, status_code, user_id, Object.keys(diff).toSorted()])
    ).toStrictEqual([
      ["create", 201, member.user.id, ["created_at", "expires_at", "last_used", "user_id"]],
      ["delete", 204, member.user.id, ["created_at", "expires_at", "last_used", "user_id"]]
    ])
  })

  once("is audited when a reader is refused to delete it", async () => {
    const member = await server().aMember()
    const reader = await aToken(server(), member, { token_name: "reader", scopes: ["user:read", "api_key:read"] })
    const blind = await aToken(server(), member, { token_name: "blind", scopes: ["user:read"] })
    for (const { token } of [reader, blind]) {
      expect((await server().call("DELETE", `/users/me/keys/${reader.token.slice(0, 10)}`, { token })).status).toBe(404)
    }
    const entries = await server().run(auditEntries({ resource_id: member.user.id }))
    expect(
      entries.filter(({ action }) => action === "delete").map(({ resource_target, status_code }) => [resource_target, status_code])
    ).toStrictEqual([["reader", 404]])
  })
})

describeServer("keys and tokens", (server) => {
  it("of others are hidden from members and shown to owners", async () => {
    const holder = await server().aMember()
    const member = await server().aMember()
    const owner = server().owner()
    const { token } = await aToken(server(), holder, { token_name: "mine" })
    const id = token.slice(0, 10)
    const paths = [
      `/users/${holder.user.id}`,
      `/users/${holder.user.id}/keys/tokens`,
      `/users/${holder.user.username}/keys/tokens/mine`,
      `/users/me/keys/${id}`
    ]
    const statuses = (person: Person) =>
      Promise.all(paths.map(async (path) => (await server().call("GET", path, { token: person.token })).status))
    expect(await statuses(member)).toStrictEqual([404, 404, 404, 404])
    expect(await statuses(owner)).toStrictEqual([200, 200, 200, 200])
    const unknown = await server().call("GET", "/users/me/keys/nosuchkey0", { token: member.token })
    expect((await server().call("GET", `/users/me/keys/${id}`, { token: member.token })).text).toBe(unknown.text)
    expect((await server().call("DELETE", `/users/me/keys/${id}`, { token: member.token })).status).toBe(404)
    expect((await create(server(), owner, { token_name: "given" }, holder.user.username)).status).toBe(201)
    expect((await server().call("DELETE", `/users/me/keys/${id}`, { token: owner.token })).status).toBe(204)
  })

  it("are listed for all users that the caller may read, with their holders' names", async () => {
    const holder = await server().aMember()
    await aToken(server(), holder, { token_name: "of-holder" })
    expect(await names(server(), holder, "?include_all=true")).toStrictEqual(["of-holder"])
    const all = (await server().call("GET", "/users/me/keys/tokens?include_all=true", { token: server().owner().token })).as(Tokens)
    expect(all.find(({ token_name }) => token_name === "of-holder")?.username).toBe(holder.user.username)
  })

  it("are refused to the service's own users, whoever asks, and to deleted ones", async () => {
    const deleted = await server().run(
      Effect.tap(aUser({ deleted: true }), (user) => Effect.flatMap(UserRepository, (users) => users.insert(user, null)))
    )
    const owner = server().owner()
    const statuses = await Promise.all(
      [prebuildsUserId, deleted.id].flatMap((id) => [
        server().call("POST", `/users/${id}/keys`, { token: owner.token }),
        create(server(), owner, { scopes: ["nonsense"] }, id)
      ])
    )
    expect(statuses.map(({ status }) => status)).toStrictEqual([404, 404, 404, 404])
  })
})

describeInterface("the scopes a token can be made with", (server) => {
  it("are public, sorted and canonical", async () => {
    const answer = await server().call("GET", "/auth/scopes")
    const { external } = answer.as(Schema.Struct({ external: Schema.Array(Schema.String) }))
    expect(external).toStrictEqual(externalScopes)
    expect(external).toStrictEqual(external.toSorted())
    expect(external).toContain("coder:workspaces.create")
    expect(external).not.toContain("all")
  })
})

describeInterface(
  "for the clients of an existing ecosystem",
  (server) => {
    it("allow lists are texts and the literals carry the name", async () => {
      const member = await server().aMember()
      const headers = { "Coder-Session-Token": member.token }
      const answer = await server().call("POST", "/users/me/keys/tokens", {
        headers,
        body: { token_name: "ci", allow_list: ["workspace:*"] }
      })
      expect(answer.status).toBe(201)
      const token = await server().call("GET", "/users/me/keys/tokens/ci", { headers })
      expect(token.body).toMatchObject({ allow_list: ["workspace:*"] })
      const login = await server().call("POST", "/users/login", { body: { email: "owner@example.com", password: "SomeSecurePassword!" } })
      expect(login.headers.getSetCookie().some((cookie) => cookie.startsWith("coder_session_token="))).toBe(true)
    })
  },
  { compatibility: "coder" }
)
