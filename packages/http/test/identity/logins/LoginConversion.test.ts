import { UserRepository } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aHostProvider, browserOf, type DescribedIdentity, logInAs, origin, sessionOf } from "../../../../../test/outside/hostLogins.js"
import { describeInterface, ownerPassword, type TestServer } from "../../../../../test/http/server.js"
import type { Browser } from "../../../../../test/outside/browser.js"

const Begun = Schema.Struct({ state_string: Schema.String, expires_at: Schema.String, to_type: Schema.String, user_id: Uuid.Uuid })

const conversionCookie = "service_oauth_convert_jwt"

let people = 0

/** A password user whose browser has a session. */
const aPerson = async (server: TestServer) => {
  const name = `converted${++people}`
  const body = {
    email: `${name}@example.com`,
    username: name,
    password: ownerPassword,
    user_status: "active",
    organization_ids: ["00000000-0000-0000-0000-000000000000"]
  }
  const created = await server.call("POST", "/users", { token: server.owner().token, body })
  expect(created.status).toBe(201)
  const browser = browserOf(server)
  await browser.visit(`${origin}/api/v2/users/login`, {
    method: "POST",
    body: JSON.stringify({ email: body.email, password: ownerPassword })
  })
  const { id } = created.as(Schema.Struct({ id: Uuid.Uuid }))
  const there: DescribedIdentity = { linked_id: `there-${name}`, email: body.email, name: "From there" }
  return { id, email: body.email, browser, token: sessionOf(browser) ?? "", there }
}

const begin = async (browser: Browser, user: string, body: unknown = { to_type: "oidc", password: ownerPassword }) => {
  const page = await browser.visit(`${origin}/api/v2/users/${user}/convert-login`, {
    method: "POST",
    headers: { "Service-Session-Token": sessionOf(browser) ?? "" },
    body: JSON.stringify(body)
  })
  return { ...page, begun: page.status === 201 ? Schema.decodeUnknownSync(Begun)(JSON.parse(page.text)) : undefined }
}

const startOf = (state: string | undefined) => ({ start: `?oidc_merge_state=${state}` })

const loginTypeOf = (server: TestServer, id: Uuid.Uuid) =>
  server.run(Effect.flatMap(UserRepository, ({ byId }) => Effect.map(Effect.flatten(byId(id)), ({ login_type }) => login_type)))

const statusOf = async (server: TestServer, token: string) => (await server.call("GET", "/users/me", { token })).status

describeInterface(
  "an account with a password",
  (server) => {
    it("loses its password and session when it is converted", async () => {
      const { browser, email, id, there, token } = await aPerson(server())
      const { begun, cookies, status } = await begin(browser, "me")
      expect([status, begun?.state_string, begun?.to_type, begun?.user_id]).toStrictEqual([
        201,
        expect.stringMatching(/^convert-[0-9A-Za-z]{32}$/),
        "oidc",
        id
      ])
      const expires = Date.parse(begun?.expires_at ?? "") - Timestamp.toMillis(await server().run(Timestamp.now))
      expect(expires).toBeGreaterThan(4 * 60_000)
      expect(expires).toBeLessThanOrEqual(5 * 60_000)
      expect(cookies.find((line) => line.startsWith(conversionCookie))).toMatch(/=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)

      const page = await logInAs(browser, there, { start: `?oidc_merge_state=${begun?.state_string}&redirect=/settings` })
      expect([page.status, page.headers.get("location"), sessionOf(browser)]).toStrictEqual([307, "/settings", undefined])
      expect(browser.jar(origin).has(conversionCookie)).toBe(false)
      expect([await loginTypeOf(server(), id), await statusOf(server(), token)]).toStrictEqual(["oidc", 401])
      const stored = await server().run(Effect.flatMap(UserRepository, ({ byEmail }) => byEmail(email)))
      expect(Option.map(stored, ({ hashed_password }) => hashed_password)).toStrictEqual(Option.some(null))
      const byPassword = await server().call("POST", "/users/login", { body: { email, password: ownerPassword } })
      expect(byPassword.status).toBe(401)

      expect((await logInAs(browser, there)).status).toBe(307)
      expect(await statusOf(server(), sessionOf(browser) ?? "")).toBe(200)
      // The refused attempt is written after it was answered
      const entries = (await server().run(auditEntries({ user_id: id }))).filter(({ status_code }) => status_code !== 401)
      expect(entries.map(({ action, resource_type, status_code }) => [action, resource_type, status_code])).toStrictEqual([
        ["login", "api_key", 201],
        ["create", "convert_login", 201],
        ["write", "user", 307],
        ["login", "api_key", 307]
      ])
      expect(entries[2]?.diff).toStrictEqual({
        login_type: { old: "password", new: "oidc", secret: false },
        hashed_password: { secret: true }
      })
      expect(entries[1]?.diff).toMatchObject({ to_login_type: { old: "", new: "oidc" }, user_id: { new: id } })
    })

    it("is converted to a provider with the right password", async () => {
      const { browser, id } = await aPerson(server())
      for (const to_type of ["token", "none", "password", "", "unknown"]) {
        expect([to_type, (await begin(browser, "me", { to_type, password: ownerPassword })).status]).toStrictEqual([to_type, 400])
      }
      expect((await begin(browser, "me", { to_type: "oidc" })).status).toBe(400)
      expect((await begin(browser, "me", { to_type: "github", password: "wrong" })).status).toBe(401)
      expect((await begin(browser, "me", { to_type: "oidc", password: "wrong" })).status).toBe(401)
      expect((await begin(browser, (await aPerson(server())).id)).status).toBe(404)
      expect(
        (await server().call("POST", `/users/${id}/convert-login`, { body: { to_type: "oidc", password: ownerPassword } })).status
      ).toBe(401)
      const entries = await server().run(auditEntries({ resource_id: id, resource_type: "convert_login" }))
      expect(entries.map(({ status_code }) => status_code)).toStrictEqual([401, 401])
      // Where the provider is not configured, the user learns it there
      expect((await begin(browser, "me", { to_type: "github", password: ownerPassword })).status).toBe(201)
    })

    it("is not converted by an unknown provider account, and no account is created", async () => {
      const { browser, id, there } = await aPerson(server())
      const { begun } = await begin(browser, "me")
      const email = "elsewhere@example.com"
      const page = await logInAs(browser, { ...there, email }, startOf(begun?.state_string))
      expect([page.status, await loginTypeOf(server(), id)]).toStrictEqual([400, "password"])
      expect(await server().run(Effect.flatMap(UserRepository, ({ byEmail }) => byEmail(email)))).toStrictEqual(Option.none())
    })

    it("is not converted by another user, without a valid cookie, or too late", async () => {
      const { browser, id, there, token } = await aPerson(server())
      const other = await aPerson(server())
      const attempt = async (identity: DescribedIdentity, change: (jar: Map<string, string>) => void = () => {}) => {
        const { begun } = await begin(browser, "me")
        change(browser.jar(origin))
        return (await logInAs(browser, identity, startOf(begun?.state_string))).status
      }
      expect(await attempt(other.there)).toBe(403)
      expect(await attempt(there, (jar) => jar.delete(conversionCookie))).toBe(400)
      expect(await attempt(there, (jar) => jar.set(conversionCookie, "x.y"))).toBe(400)
      expect(await attempt(there, (jar) => jar.set(conversionCookie, `${jar.get(conversionCookie)?.slice(0, -2)}AA`))).toBe(400)

      const { begun: first } = await begin(browser, "me")
      await begin(browser, "me")
      // The cookie is of the second one
      expect((await logInAs(browser, there, startOf(first?.state_string))).status).toBe(403)

      const theirs = await begin(other.browser, "me")
      browser.jar(origin).set(conversionCookie, other.browser.jar(origin).get(conversionCookie) ?? "")
      expect((await logInAs(browser, there, startOf(theirs.begun?.state_string))).status).toBe(403)

      const late = await attempt(there, () => server().advance("6 minutes"))
      expect(late).toBe(400)
      expect([await loginTypeOf(server(), id), await loginTypeOf(server(), other.id)]).toStrictEqual(["password", "password"])
      expect(await statusOf(server(), token)).toBe(200)
    })

    it("is converted once, even if the browser repeats the callback", async () => {
      const { browser, there } = await aPerson(server())
      const { begun } = await begin(browser, "me")
      const kept = new Map(browser.jar(origin))
      expect((await logInAs(browser, there, startOf(begun?.state_string))).status).toBe(307)
      const again = browserOf(server())
      for (const [name, value] of kept) again.jar(origin).set(name, value)
      expect((await logInAs(again, there, startOf(begun?.state_string))).status).toBe(401)
      expect((await browser.visit(`${origin}/api/v2/users/oidc/callback?oidc_merge_state=convert-x`)).status).toBe(400)
    })

    it("is not converted to a provider account that is linked to another user", async () => {
      const { browser, there } = await aPerson(server())
      const linked = browserOf(server())
      const other: DescribedIdentity = { linked_id: "linked", email: `linked${people}@example.com`, username: `linked${people}` }
      expect((await logInAs(linked, other)).status).toBe(307)
      const { begun } = await begin(browser, "me")
      expect((await logInAs(browser, { ...there, linked_id: "linked" }, startOf(begun?.state_string))).status).toBe(403)
    })
  },
  { loginProviders: [aHostProvider()] }
)
