import { SqlClient } from "@effect/sql"
import { GitSshKeyRepository, UserLinkRepository, UserRepository, type User } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Option, Redacted, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { databases, postgresOfUnicode, sqlite } from "../../../../../test/store/databases.js"
import {
  aHostProvider,
  browserOf,
  callbackOf,
  type DescribedIdentity,
  logInAs,
  origin,
  sessionOf
} from "../../../../../test/outside/hostLogins.js"
import { describeInterface, describeServerOnEach, startServer, type TestServer } from "../../../../../test/http/server.js"

const logIn = async (server: TestServer, identity: DescribedIdentity) => {
  const browser = browserOf(server)
  const page = await logInAs(browser, identity)
  return { page, token: sessionOf(browser) }
}

const Me = Schema.Struct({
  id: Uuid.Uuid,
  email: Schema.String,
  username: Schema.String,
  name: Schema.optionalWith(Schema.String, { default: () => "" }),
  avatar_url: Schema.optionalWith(Schema.String, { default: () => "" }),
  status: Schema.String,
  login_type: Schema.String,
  roles: Schema.Array(Schema.Struct({ name: Schema.String })),
  organization_ids: Schema.Array(Schema.String)
})

const me = async (server: TestServer, token: string | undefined) => {
  const answer = await server.call("GET", "/users/me", { token: token ?? "" })
  expect(answer.status).toBe(200)
  return answer.as(Me)
}

const stored = (server: TestServer, fields: Partial<User>) =>
  server.run(
    Effect.gen(function* () {
      const user = yield* aUser(fields)
      yield* (yield* UserRepository).insert(user, null)
      return user
    })
  )

const linkOf = (server: TestServer, user: Pick<User, "id">) =>
  server.run(Effect.flatMap(UserLinkRepository, ({ ofUser }) => Effect.map(ofUser(user.id, "oidc"), Option.getOrUndefined)))

let people = 0
const somebody = (fields: Partial<DescribedIdentity> = {}): DescribedIdentity => {
  const name = `person${++people}`
  return { linked_id: `issuer||${name}`, email: `${name}@example.com`, username: name, ...fields }
}

const options = { loginProviders: [aHostProvider()] }

describeServerOnEach(
  "somebody whom a provider vouches for",
  (server, once) => {
    once("gets an account at the first login, and the same one at the next", async () => {
      const ada = somebody({ name: " Ada\u0007Lovelace ", avatar_url: "https://example.com/ada.png" })
      const first = await logIn(server(), ada)
      expect([first.page.status, first.page.location]).toStrictEqual([307, "http://atelier.test/"])
      const user = await me(server(), first.token)
      expect(user).toMatchObject({
        email: ada.email,
        username: ada.username,
        name: "Ada Lovelace",
        avatar_url: "https://example.com/ada.png",
        status: "active",
        login_type: "oidc",
        roles: [],
        organization_ids: [expect.any(String)]
      })
      const again = await logIn(server(), ada)
      expect((await me(server(), again.token)).id).toBe(user.id)
      const key = await server().call("GET", `/users/me/keys/${again.token?.slice(0, 10)}`, { token: again.token ?? "" })
      expect(key.body).toMatchObject({ login_type: "oidc", lifetime_seconds: 86_400, scopes: ["coder:all"] })
      const entries = await server().run(auditEntries({ resource_id: user.id }))
      expect(
        entries.map(({ action, diff, resource_type, status_code, user_id }) => [action, resource_type, status_code, user_id, diff])
      ).toStrictEqual([
        ["register", "api_key", 307, user.id, {}],
        ["login", "api_key", 307, user.id, {}]
      ])
      const pair = await server().run(Effect.flatMap(GitSshKeyRepository, ({ ofUser }) => ofUser(user.id)))
      expect(Option.isSome(pair)).toBe(true)
    })

    once("is found by the provider's id after its address changed", async () => {
      const person = somebody({ name: "Before", avatar_url: "https://example.com/a.png" })
      const before = await me(server(), (await logIn(server(), person)).token)
      const moved = { ...person, email: `moved.${person.email}`, username: "another", avatar_url: "javascript:alert(1)", name: "" }
      const after = await me(server(), (await logIn(server(), moved)).token)
      expect(after).toMatchObject({ id: before.id, email: moved.email, username: person.username, name: "", avatar_url: "" })
    })

    once("is linked to the unlinked account of that login type with the same address", async () => {
      const person = somebody()
      const user = await stored(server(), { email: person.email.toUpperCase(), login_type: "oidc", status: "dormant" })
      const { token } = await logIn(server(), person)
      expect(await me(server(), token)).toMatchObject({ id: user.id, status: "active", email: person.email })
      expect(await linkOf(server(), user)).toMatchObject({ linked_id: person.linked_id, login_type: "oidc", oauth_expiry: null })
      const entries = await server().run(auditEntries({ resource_id: user.id }))
      expect(entries.map(({ action, additional_fields, diff }) => [action, diff, additional_fields])).toStrictEqual([
        [
          "write",
          { status: { old: "dormant", new: "active", secret: false } },
          { automatic_actor: "service", automatic_subsystem: "dormancy" }
        ],
        ["login", {}, {}]
      ])
    })

    once("is refused where another one of the same address is linked", async () => {
      const person = somebody()
      const { token } = await logIn(server(), person)
      const other = await logIn(server(), { ...person, linked_id: "issuer||another" })
      expect([other.page.status, other.token]).toStrictEqual([403, undefined])
      expect(other.page.headers.get("content-type")).toBe("text/html; charset=utf-8")
      const user = await me(server(), token)
      expect(await linkOf(server(), user)).toMatchObject({ linked_id: person.linked_id })
      const entries = await server().run(auditEntries({ user_id: user.id, resource_type: "api_key" }))
      expect(entries.map(({ action, status_code }) => [action, status_code])).toStrictEqual([
        ["register", 307],
        ["login", 403]
      ])
    })

    once("is refused for an account with another login type", async () => {
      const [byPassword, byGithub] = [somebody(), somebody()]
      const user = await stored(server(), { email: byPassword.email, login_type: "password" })
      await stored(server(), { email: byGithub.email, login_type: "github" })
      const [first, second] = [await logIn(server(), byPassword), await logIn(server(), byGithub)]
      expect([first.page.status, second.page.status]).toStrictEqual([403, 403])
      expect(first.page.text).toContain("Sign in with your password")
      expect(second.page.text).not.toContain("Sign in with your password")
      expect(await linkOf(server(), user)).toBeUndefined()
    })

    once("is refused while suspended, which changes nothing", async () => {
      const person = somebody()
      const user = await stored(server(), { email: person.email, login_type: "oidc", status: "suspended" })
      const { page, token } = await logIn(server(), { ...person, name: "New" })
      expect([page.status, token]).toStrictEqual([403, undefined])
      expect(page.text).toContain("suspended")
      expect(await linkOf(server(), user)).toBeUndefined()
      const after = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(user.id))))
      expect(after).toStrictEqual({ ...user, organization_ids: [] })
    })

    once("gets another username if its own is taken or missing", async () => {
      const name = "a-name-of-exactly-32-characters-x"
      const names = await Promise.all(
        [
          somebody({ username: "taken" }),
          somebody({ username: "TAKEN" }),
          somebody({ username: name.slice(0, 32) }),
          somebody({ username: name.slice(0, 32) }),
          somebody({ username: "first.last@corp" }),
          somebody({ username: "", email: "ünï.mail+x@example.com" }),
          somebody({ username: "💥" })
        ].map(async (person) => (await me(server(), (await logIn(server(), person)).token)).username)
      )
      expect(new Set(names.map((each) => each.toLowerCase())).size).toBe(names.length)
      expect(names.slice(0, 2).some((each) => /^taken-[0-9A-Za-z]{6}$/i.test(each))).toBe(true)
      expect(names[4]).toBe("firstlast")
      expect(names[5]).toBe("nmailx")
      expect(names[6]).toMatch(/^[a-z]+-[a-z]+\d\d$/)
      for (const each of names) expect(each).toMatch(/^(?=.{1,32}$)[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/)
    })

    it("is one user after concurrent first logins", async () => {
      const person = somebody()
      const pages = await Promise.all(Array.from({ length: 6 }, () => logIn(server(), person)))
      expect(pages.map(({ page }) => page.status)).toStrictEqual(Array.from({ length: 6 }, () => 307))
      const ids = await Promise.all(pages.map(async ({ token }) => (await me(server(), token)).id))
      expect(new Set(ids).size).toBe(1)
      const entries = await server().run(auditEntries({ resource_id: ids[0] ?? Uuid.nil }))
      expect(entries.filter(({ action }) => action === "register")).toHaveLength(1)
    })

    it("is one account of concurrent logins with one address", async () => {
      const person = somebody()
      const pages = await Promise.all(
        ["one", "two"].map((id) => logIn(server(), { ...person, linked_id: `issuer||${person.username}-${id}` }))
      )
      expect(pages.map(({ page }) => page.status).toSorted()).toStrictEqual([307, 403])
    })

    once("cannot get another user's address", async () => {
      const [one, other] = [somebody(), somebody()]
      await logIn(server(), one)
      await logIn(server(), other)
      const { page } = await logIn(server(), { ...one, email: other.email })
      expect(page.status).toBe(500)
      expect(page.text).toContain("belongs to another account")
    })

    once("is refused without an id or a usable address", async () => {
      const wrongIds = ["", "x".repeat(1025), "half of a pair \ud800", "x\u0000"]
      for (const wrong of [...wrongIds.map((linked_id) => ({ linked_id })), { email: "nobody" }, { email: "" }]) {
        expect((await logIn(server(), somebody(wrong))).page.status).toBe(400)
      }
    })

    once("is refused with claims that no store could read", async () => {
      const nested = (levels: number): unknown => (levels === 0 ? "inside" : [nested(levels - 1)])
      expect((await logIn(server(), somebody({ claims: { deep: nested(60) } }))).page.status).toBe(307)
      expect((await logIn(server(), somebody({ claims: { deep: nested(1500) } }))).page.status).toBe(400)
      const { token } = server().owner()
      expect((await server().call("GET", "/settings/idpsync/field-values?claimField=deep", { token })).body).toStrictEqual([])
    })

    once("shows the provider's claims to the user alone", async () => {
      const person = somebody()
      const { token = "" } = await logIn(server(), person)
      const claims = await server().call("GET", "/users/oidc-claims", { token })
      expect([claims.status, claims.body]).toStrictEqual([200, { claims: { sub: person.linked_id, text: "a\u0000b" } }])
      expect((await server().call("GET", "/users/oidc-claims", { token: server().owner().token })).status).toBe(400)
      expect((await server().call("GET", "/users/oidc-claims")).status).toBe(401)
    })

    once("shows all claims of a user to operators", async () => {
      const person = somebody()
      const { token = "" } = await logIn(server(), person)
      const { body } = await server().call("GET", "/users/me", { token })
      const path = `/debug/${(body as { id: string }).id}/debug-link`
      const owner = server().owner().token
      const shown = await server().call("GET", path, { token: owner })
      expect([shown.status, shown.body]).toStrictEqual([
        200,
        {
          id_token_claims: {},
          user_info_claims: {},
          merged_claims: { sub: person.linked_id, text: "a\u0000b" }
        }
      ])
      const statuses = [
        server().call("GET", path, { token }),
        server().call("GET", path),
        server().call("GET", "/debug/me/debug-link", { token: owner }),
        server().call("GET", "/debug/nobody-at-all/debug-link", { token: owner }),
        server().call("GET", "/debug/nobody-at-all/debug-link", { token })
      ]
      expect((await Promise.all(statuses)).map(({ status }) => status)).toStrictEqual([403, 401, 400, 404, 403])
    })

    once("shows it to no token that is not for what is personal", async () => {
      const { token = "" } = await logIn(server(), somebody())
      const made = await server().call("POST", "/users/me/keys/tokens", { token, body: { scope: "application_connect" } })
      const { key } = made.as(Schema.Struct({ key: Schema.String }))
      expect((await server().call("GET", "/users/oidc-claims", { token: key })).status).toBe(404)
    })

    once("keeps the provider's tokens encrypted", async () => {
      const { token } = await logIn(server(), somebody({ refresh_token: "a refresh token" }))
      await me(server(), token)
      const rows = await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          return yield* sql<{ tokens: Uint8Array }>`SELECT * FROM user_links`
        })
      )
      expect(rows.length).toBeGreaterThan(0)
      for (const row of rows) {
        expect(Buffer.from(row.tokens).toString("latin1")).not.toContain("token")
        expect(JSON.stringify({ ...row, tokens: "" })).not.toContain("access token")
      }
    })

    once("starts anew after having been deleted", async () => {
      const person = somebody()
      const before = await me(server(), (await logIn(server(), person)).token)
      expect((await server().call("DELETE", `/users/${before.id}`, { token: server().owner().token })).status).toBe(200)
      expect(await linkOf(server(), before)).toBeUndefined()
      const after = await me(server(), (await logIn(server(), person)).token)
      expect(after.id).not.toBe(before.id)
    })
  },
  options
)

describeInterface(
  "a deployment without sign-ups",
  (server) => {
    it("refuses unknown users with the operator's words, escaped as text", async () => {
      const { page, token } = await logIn(server(), somebody())
      expect([page.status, token]).toStrictEqual([403, undefined])
      expect(page.text).toContain("Ask &lt;b&gt;Bob&lt;/b&gt;")
      expect(page.text).not.toContain("<b>")
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
    })

    it("admits users who have an account", async () => {
      const person = somebody()
      await stored(server(), { email: person.email, login_type: "oidc" })
      expect((await logIn(server(), person)).page.status).toBe(307)
    })
  },
  { loginProviders: [aHostProvider({ allow_signups: false, signups_disabled_text: "Ask <b>Bob</b>" })] }
)

describeInterface(
  "a deployment that takes addresses for ids",
  (server) => {
    it("admits another id of the same address, and keeps the one it knows", async () => {
      const person = somebody()
      const user = await me(server(), (await logIn(server(), person)).token)
      const other = await logIn(server(), { ...person, linked_id: "issuer||new" })
      expect((await me(server(), other.token)).id).toBe(user.id)
      expect(await linkOf(server(), user)).toMatchObject({ linked_id: person.linked_id })
    })
  },
  { loginProviders: [aHostProvider({ email_fallback: true })] }
)

describe.each(databases)("a deployment without a user on %s", (_, storage) => {
  it("makes exactly one of concurrent first logins its owner, also without sign-ups", async () => {
    const server = await startServer(storage, { empty: true, loginProviders: [aHostProvider({ allow_signups: false })] })
    const persons = Array.from({ length: 5 }, () => somebody())
    const pages = await Promise.all(persons.map((person) => logIn(server, person)))
    expect(pages.map(({ page }) => page.status).toSorted()).toStrictEqual([307, 403, 403, 403, 403])
    const { token } = pages.find(({ page }) => page.status === 307) ?? {}
    expect(await me(server, token)).toMatchObject({ roles: [{ name: "owner" }], status: "active", login_type: "oidc" })
    expect((await server.call("GET", "/users/first")).status).toBe(200)
    await server.close()
  })

  it("makes the first user its owner, and the others members", async () => {
    const server = await startServer(storage, { empty: true, loginProviders: [aHostProvider()] })
    const pages = await Promise.all(Array.from({ length: 4 }, () => logIn(server, somebody())))
    const roles = await Promise.all(pages.map(async ({ token }) => (await me(server, token)).roles.map(({ name }) => name)))
    expect(roles.toSorted()).toStrictEqual([[], [], [], ["owner"]])
    await server.close()
  })
})

describe("a login at a provider that takes no code challenges", () => {
  it("ignores the cookies of another login that was abandoned", async () => {
    const verifiers: Array<string> = []
    const { complete } = aHostProvider()
    const plain = aHostProvider({
      pkce: Effect.succeed(false),
      complete: (response) => {
        verifiers.push(Redacted.value(response.code_verifier))
        return complete(response)
      }
    })
    const server = await startServer(sqlite, { loginProviders: [plain, aHostProvider({ type: "github" })] })
    const browser = browserOf(server)
    await browser.visit(callbackOf("github"))
    expect(browser.jar(origin).get("oauth_pkce_verifier")).toMatch(/^\w{64}$/)
    const page = await logInAs(browser, somebody())
    expect([page.status, verifiers]).toStrictEqual([307, [""]])
    await server.close()
  })
})

describe("a deployment beside whose host others set cookies", () => {
  it("does not accept their cookies for a login", async () => {
    const server = await startServer(sqlite, { ...options, options: { secureAuthCookie: true, hostPrefixCookie: true } })
    const browser = browserOf(server)
    expect((await logInAs(browser, somebody())).status).toBe(307)
    expect([...browser.jar(origin).keys()].filter((name) => name.includes("oauth"))).toStrictEqual([])
    const start = await browser.visit(callbackOf("oidc"))
    const kept = start.cookies.filter((line) => !line.includes("Max-Age=0"))
    expect(kept).toHaveLength(4)
    for (const line of kept) expect(line).toMatch(/^__Host-oauth_[a-z_]+=[^;]*; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    const jar = browser.jar(origin)
    for (const [name, value] of [...jar].filter(([each]) => each.includes("oauth"))) {
      jar.delete(name)
      jar.set(name.replace("__Host-", ""), value)
    }
    const code = Buffer.from(JSON.stringify(somebody())).toString("base64url")
    const page = await browser.visit(`${callbackOf("oidc")}?${new URLSearchParams({ code, state: jar.get("oauth_state") ?? "" })}`)
    expect(page.status).toBe(401)
    await server.close()
  })
})

describe("a user whose address only resembles another one", () => {
  it("is not let into that account", async () => {
    const server = await startServer(postgresOfUnicode, options)
    const kate = await stored(server, { email: "kate@example.com", login_type: "oidc" })
    // The Kelvin sign, which is a small k in lower case
    const eve = await logIn(server, somebody({ email: "\u212Aate@example.com" }))
    expect([eve.page.status, eve.token, await linkOf(server, kate)]).toStrictEqual([409, undefined, undefined])
    const { token } = await logIn(server, somebody({ email: "KATE@example.com" }))
    expect((await me(server, token)).id).toBe(kate.id)
    await server.close()
  })
})
