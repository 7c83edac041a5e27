import { publishRightsChange } from "@atelier/core/access"
import type { OptionInputs } from "@atelier/core/deployment"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { afterAll, beforeEach, expect, it } from "vitest"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { aBrowser, type Browser, type Page } from "../../../../test/outside/browser.js"
import { anAccount, clientId, clientSecret, startOidc, throughProvider } from "../../../../test/outside/oidc.js"
import type { Person } from "../../../../test/http/server.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { aTemplate, aVersion, ended, getVersion } from "../../../../test/http/templates.js"
import { type AgentServer, describeAgentsOnEach } from "../agents/AgentServer.js"

const accessUrl = "http://atelier.test"

const provider = await startOidc({
  redirectUris: [`${accessUrl}/external-auth/git/callback`],
  configuration: {
    clientAuthMethods: ["client_secret_post"],
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${accessUrl}/external-auth/git/callback`],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post"
      }
    ],
    features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true }, revocation: { enabled: true } },
    pkce: { required: () => true }
  }
})
afterAll(() => provider.close())

const { issuer } = provider

const shared = {
  client_id: clientId,
  client_secret: clientSecret,
  token_url: `${issuer}/token`,
  validate_url: `${issuer}/me`,
  revoke_url: `${issuer}/token/revocation`,
  scopes: ["openid", "profile"]
}

const options: Pick<OptionInputs, "externalAuthProviders"> = {
  externalAuthProviders: [
    {
      ...shared,
      id: "git",
      type: "acme",
      auth_url: `${issuer}/auth`,
      regex: "^https://git\\.example\\.com(/.*)?$",
      extra_token_keys: ["scope"]
    },
    {
      ...shared,
      id: "box",
      type: "box",
      auth_url: `${issuer}/auth`,
      device_flow: true,
      device_code_url: `${issuer}/device/auth`,
      regex: "https://git\\.example\\.com/special",
      display_name: "The Box"
    },
    { ...shared, id: "lab", type: "gitlab", auth_url: `${issuer}/auth`, no_refresh: true }
  ]
}

const browserOf = (server: AgentServer, account: string): Browser => aBrowser({ [accessUrl]: server.url }, { "x-account": account })

const asPerson = ({ token }: Person): RequestInit => ({ headers: { "Service-Session-Token": token } })

/** Signs a user in to the provider, up to the end of the redirect back. */
const link = async (server: AgentServer, person: Person, browser = browserOf(server, "octo"), query = ""): Promise<Page> => {
  const start = await browser.visit(`${accessUrl}/external-auth/git/callback${query}`, asPerson(person))
  expect(start.status).toBe(307)
  return browser.visit(await throughProvider(browser, issuer, start), asPerson(person))
}

const Links = Schema.Struct({
  links: Schema.Array(
    Schema.Struct({
      provider_id: Schema.String,
      authenticated: Schema.Boolean,
      has_refresh_token: Schema.Boolean,
      validate_error: Schema.String
    })
  )
})

const list = async (server: AgentServer, { token }: Person) => (await server.call("GET", "/external-auth", { token })).as(Links).links

const Token = Schema.Struct({
  access_token: Schema.String,
  username: Schema.String,
  password: Schema.String,
  type: Schema.String,
  url: Schema.String
})

const agentToken = async (server: AgentServer, token: string, query: string) =>
  (await server.call("GET", `/workspaceagents/me/external-auth?${query}`, { token })).as(Token)

const tokenRequests = (): number => provider.requests.filter((request) => request === "POST /token").length

beforeEach(() => {
  provider.reset()
  provider.accounts.set("octo", anAccount({ name: "Octo Cat" }))
})

describeAgentsOnEach(
  "external authentication",
  (server, once) => {
    once("links a user by way of the provider, and lists the link", async () => {
      const person = await server().aMember()
      expect(await list(server(), person)).toStrictEqual([])
      const done = await link(server(), person)
      expect([done.status, done.location]).toStrictEqual([307, `${accessUrl}/external-auth/git?redirected=true`])
      expect(await list(server(), person)).toStrictEqual([
        { provider_id: "git", authenticated: true, has_refresh_token: true, validate_error: "" }
      ])
      expect((await server().call("GET", "/external-auth/git", { token: person.token })).body).toMatchObject({
        authenticated: true,
        device: false,
        display_name: "acme",
        supports_revocation: true
      })
      expect(await list(server(), await server().aMember())).toStrictEqual([])
    })

    once("leads back to a path of the service and never to another host", async () => {
      const person = await server().aMember()
      const to = async (redirect: string) =>
        (await link(server(), person, browserOf(server(), "octo"), `?redirect=${encodeURIComponent(redirect)}`)).location
      expect(await to("/templates/x")).toBe(`${accessUrl}/templates/x`)
      expect(await to("https://evil.example.com/x")).toBe(`${accessUrl}/x`)
      expect(await to("//evil.example.com/x")).toBe(`${accessUrl}/evil.example.com/x`)
    })

    once("refuses a return with the state of another browser", async () => {
      const person = await server().aMember()
      const browser = browserOf(server(), "octo")
      const start = await browser.visit(`${accessUrl}/external-auth/git/callback`, asPerson(person))
      const back = await throughProvider(browser, issuer, start)
      const visit = async (url: string, changes: (jar: Map<string, string>) => void) => {
        const other = browserOf(server(), "octo")
        for (const [name, value] of browser.jar(accessUrl)) other.jar(accessUrl).set(name, value)
        changes(other.jar(accessUrl))
        return (await other.visit(url, asPerson(person))).status
      }
      expect(await visit(back.replace(/state=[^&]*/, "state=forged"), () => {})).toBe(401)
      expect(await visit(back, (jar) => jar.delete("oauth_state"))).toBe(401)
      expect(await visit(back.replace("/external-auth/git/", "/external-auth/lab/"), () => {})).toBe(401)
      expect(await visit(back, (jar) => jar.delete("oauth_pkce_verifier"))).toBe(400)
      expect(await visit(back.replace(/state=[^&]*/, "state="), () => {})).toBe(400)
      expect(await visit(back.replace(/code=[^&]*/, "error=access_denied"), () => {})).toBe(400)
      expect(await visit(back.replace(/code=[^&]*/, "code=wrong"), () => {})).toBe(502)
      expect(await list(server(), person)).toStrictEqual([])
    })

    once("shows a provider's reason only to the browser that was sent there", async () => {
      const person = await server().aMember()
      const browser = browserOf(server(), "octo")
      const start = await browser.visit(`${accessUrl}/external-auth/git/callback`, asPerson(person))
      const back = await throughProvider(browser, issuer, start)
      const refusal = `error=access_denied&error_description=${encodeURIComponent("Call this number")}`
      const page = async (by: Browser, url: string) => {
        const { status, text } = await by.visit(url, { headers: { accept: "text/html", "Service-Session-Token": person.token } })
        return [status, text.includes("Call this number"), text.includes("<p>The provider refused the sign-in.</p>")]
      }
      const [other, returned] = [browserOf(server(), "octo"), back.replace(/code=[^&]*/, refusal)]
      expect(await page(other, `${accessUrl}/external-auth/git/callback?${refusal}`)).toStrictEqual([400, false, true])
      expect(await page(other, returned)).toStrictEqual([400, false, true])
      expect(await page(browser, returned)).toStrictEqual([400, true, false])
      expect(await page(browser, returned.replace(/&error_description=[^&]*/, ""))).toStrictEqual([400, false, false])
    })

    once("refuses a return in another session than that of the start", async () => {
      const [person, victim] = [await server().aMember(), await server().aMember()]
      const browser = browserOf(server(), "octo")
      const start = await browser.visit(`${accessUrl}/external-auth/git/callback`, asPerson(person))
      const back = await throughProvider(browser, issuer, start)
      expect((await browser.visit(back, asPerson(victim))).status).toBe(401)
      expect((await browser.visit(back, asPerson(person))).status).toBe(307)
      expect(await list(server(), victim)).toStrictEqual([])
    })

    once("reports a provider that does not answer", async () => {
      const person = await server().aMember()
      const agent = await server().anAgent({}, person)
      const template = await aTemplate(server(), { external_auth: [{ id: "git", optional: false }] })
      await link(server(), person)
      provider.broken.set("/me", { status: 500, body: "{}" })
      const { token } = person
      const asked = await Promise.all([
        server().call("GET", "/external-auth/git", { token }),
        server().call("GET", "/workspaceagents/me/external-auth?id=git", { token: agent.token }),
        server().call("GET", `/templateversions/${template.active_version_id}/external-auth`, { token }),
        server().call("POST", "/users/me/workspaces", { token, body: { name: "one", template_id: template.id } })
      ])
      expect(asked.map(({ status }) => status)).toStrictEqual([200, 502, 502, 502])
      expect(asked[0]?.body).toMatchObject({ authenticated: false })
      const page = await browserOf(server(), "octo").visit(`${accessUrl}/external-auth/git`, asPerson(person))
      expect([page.status, page.text]).toStrictEqual([502, expect.stringContaining('href="/external-auth/git/callback"')])
      provider.broken.clear()
      expect((await agentToken(server(), agent.token, "id=git")).access_token).not.toBe("")
    })

    once("sends a browser that is signed out to the login first", async () => {
      const answer = await browserOf(server(), "octo").visit(`${accessUrl}/external-auth/git/callback?redirect=/x`)
      expect(answer.status).toBe(303)
      expect(new URL(answer.location ?? "").searchParams.get("redirect")).toBe("/external-auth/git/callback?redirect=%2Fx")
      expect((await server().call("GET", "/external-auth")).status).toBe(401)
    })

    once("shows a browser a page where there is no such provider", async () => {
      const get = (accept: string) => server().call("GET", "//external-auth/none", { token: server().owner().token, headers: { accept } })
      const [page, answer] = await Promise.all([get("text/html"), get("*/*")])
      expect([page.status, page.text]).toStrictEqual([404, expect.stringContaining("<h1>Provider not found</h1>")])
      expect([answer.status, answer.headers.get("content-type")]).toStrictEqual([404, "application/json; charset=utf-8"])
    })

    once("keeps tokens out of the store's plain bytes", async () => {
      const person = await server().aMember()
      let access = ""
      provider.answer = (answer) => {
        access = String(answer["access_token"])
        return answer
      }
      await link(server(), person)
      const rows = await server().store(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT * FROM external_auth_links WHERE user_id = ${person.user.id}`)
      )
      expect(access).not.toBe("")
      expect(JSON.stringify(rows)).not.toContain(access)
      expect(Buffer.from((rows[0] as { tokens: Uint8Array }).tokens).toString("latin1")).not.toContain(access)
    })

    it("asks the provider once for fifty agents whose owner's token has expired", async () => {
      const person = await server().aMember()
      await link(server(), person)
      const agents = await Promise.all(Array.from({ length: 50 }, () => server().anAgent({}, person)))
      server().advance("2 hours")
      const before = tokenRequests()
      const tokens = await Promise.all(agents.map(({ token }) => agentToken(server(), token, "id=git")))
      expect(tokenRequests() - before).toBe(1)
      expect(new Set(tokens.map(({ access_token }) => access_token)).size).toBe(1)
      expect(tokens[0]?.access_token).not.toBe("")
    })

    once("gives a token up for good once the provider refuses to renew it", async () => {
      const person = await server().aMember()
      await link(server(), person)
      server().advance("2 hours")
      provider.broken.set("/token", { status: 400, body: JSON.stringify({ error: "invalid_grant", error_description: "spent" }) })
      const before = tokenRequests()
      const refused = {
        provider_id: "git",
        authenticated: false,
        has_refresh_token: false,
        validate_error: expect.stringContaining("invalid_grant")
      }
      expect(await list(server(), person)).toEqual([refused])
      expect(await list(server(), person)).toEqual([refused])
      expect(tokenRequests() - before).toBe(1)
    })

    once.each([
      [401, false],
      [403, false],
      [404, false],
      [429, true],
      [500, false]
    ])("takes a validation that answers %i as %s", async (status, authenticated) => {
      const person = await server().aMember()
      await link(server(), person)
      provider.broken.set("/me", { status, body: "{}" })
      expect(await list(server(), person)).toMatchObject([{ authenticated, has_refresh_token: true }])
      const answer = await server().call("GET", "/external-auth/git", { token: person.token })
      expect([answer.status, answer.body]).toMatchObject([200, { authenticated }])
      expect(answer.body).not.toHaveProperty("failure")
    })

    once("revokes the tokens of a removed link at the provider", async () => {
      const person = await server().aMember()
      let access = ""
      provider.answer = (answer) => {
        access = String(answer["access_token"])
        return answer
      }
      await link(server(), person)
      const remove = () => server().call("DELETE", "/external-auth/git", { token: person.token })
      expect((await remove()).body).toStrictEqual({ token_revoked: true })
      const asked = await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${access}` } })
      expect(asked.status).toBe(401)
      expect((await remove()).status).toBe(404)
      await link(server(), person)
      provider.broken.set("/token/revocation", { status: 500, body: "{}" })
      expect((await remove()).body).toStrictEqual({ token_revoked: false, token_revocation_error: expect.stringContaining("500") })
      expect(await list(server(), person)).toStrictEqual([])
    })

    once("links a device whose code the user enters at the provider", async () => {
      const { token } = await server().aMember()
      const started = await server().call("GET", "/external-auth/box/device", { token })
      const { device_code, user_code } = started.as(Schema.Struct({ device_code: Schema.String, user_code: Schema.String }))
      const poll = () => server().call("POST", "/external-auth/box/device", { token, body: { device_code } })
      const early = await poll()
      expect([early.status, early.body]).toMatchObject([400, { detail: "authorization_pending" }])

      const browser = aBrowser({}, { "x-account": "octo" })
      const page = await browser.visit(`${issuer}/device?user_code=${user_code}`)
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ""
      let next: Page = await browser.visit(`${issuer}/device`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ xsrf, user_code, confirm: "yes" }).toString()
      })
      while (next.location !== undefined) next = await browser.visit(next.location)

      expect((await poll()).status).toBe(204)
      expect((await server().call("GET", "/external-auth/box", { token })).body).toMatchObject({ authenticated: true, device: true })
      expect((await server().call("POST", "/external-auth/box/device", { token, body: {} })).status).toBe(400)
      expect((await server().call("GET", "/external-auth/git/device", { token })).status).toBe(400)
      expect((await server().call("GET", "/external-auth/nope/device", { token })).status).toBe(404)
    })

    once("answers 502 where the provider does not begin a device flow", async () => {
      provider.broken.set("/device/auth", { status: 400, body: JSON.stringify({ error: "unauthorized_client" }) })
      const { token } = await server().aMember()
      expect((await server().call("GET", "/external-auth/box/device", { token })).status).toBe(502)
    })

    once("chooses an agent's provider by its id or by the address of a repository", async () => {
      const agent = await server().anAgent({}, await server().aMember())
      const url = async (query: string) => (await agentToken(server(), agent.token, query)).url
      expect(await url("id=git")).toBe(`${accessUrl}/external-auth/git`)
      expect(await url(`match=${encodeURIComponent("https://git.example.com/x.git")}`)).toBe(`${accessUrl}/external-auth/git`)
      expect(await url(`match=${encodeURIComponent("https://git.example.com/special/x.git")}`)).toBe(`${accessUrl}/external-auth/box`)
      const status = async (query: string) =>
        (await server().call("GET", `/workspaceagents/me/external-auth?${query}`, { token: agent.token })).status
      expect(await status("match=https://other.example.com")).toBe(404)
      expect(await status("id=nope")).toBe(404)
      expect(await status("")).toBe(400)
      expect(await status("id=git&match=x")).toBe(400)
      const old = await server().call("GET", `/workspaceagents/me/gitauth?url=https://git.example.com/x`, { token: agent.token })
      expect(old.as(Token).url).toBe(`${accessUrl}/external-auth/git`)
    })

    once("refuses an agent without access to its owner's data", async () => {
      const agent = await server().anAgent({ api_key_scope: "no_user_data" }, await server().aMember())
      expect((await server().call("GET", "/workspaceagents/me/external-auth?id=git", { token: agent.token })).status).toBe(403)
    })

    once("gives an agent the token of its workspace's owner", async () => {
      const person = await server().aMember()
      const agent = await server().anAgent({}, person)
      const stranger = await server().anAgent({}, await server().aMember())
      await link(server(), person)
      const { access_token, ...rest } = await agentToken(server(), agent.token, "id=git")
      expect(access_token).not.toBe("")
      expect(rest).toStrictEqual({ username: access_token, password: "", type: "acme", url: "" })
      expect((await agentToken(server(), stranger.token, "id=git")).access_token).toBe("")
    })

    once("answers a waiting agent when its owner has linked the provider", async () => {
      const person = await server().aMember()
      const agent = await server().anAgent({}, person)
      const waiting = agentToken(server(), agent.token, "id=git&listen=true")
      await link(server(), person)
      expect((await waiting).access_token).not.toBe("")
    })

    once("refuses an agent at once that would wait for a provider that is not there", async () => {
      const { token } = await server().anAgent()
      for (const query of ["id=none", "match=https://none.example/a.git"]) {
        const path = `/workspaceagents/me/external-auth?${query}&listen=true`
        expect((await server().call("GET", path, { token })).status).toBe(404)
      }
    })

    once("ends the wait of an agent whose token ends", async () => {
      const person = await server().aMember()
      const agent = await server().anAgent({}, person)
      const waiting = server().call("GET", "/workspaceagents/me/external-auth?id=git&listen", { token: agent.token })
      // A job that waits would be taken for the next one that is posted
      await server().store(aBuild(agent, { status: "running" }))
      await server().run(publishRightsChange({ workspace_id: agent.workspace.id }))
      expect((await waiting).status).toBe(401)
    })

    once("creates workspaces only for owners who are linked to the required provider", async () => {
      const template = await aTemplate(server(), {
        external_auth: [
          { id: "lab", optional: true },
          { id: "git", optional: false }
        ]
      })
      const id = template.active_version_id
      const person = await server().aMember()
      const needed = async () =>
        (await server().call("GET", `/templateversions/${id}/external-auth?user_id=${person.user.id}`, { token: server().owner().token }))
          .body
      const views = (authenticated: boolean) => [
        {
          id: "git",
          type: "acme",
          display_name: "acme",
          display_icon: "/emojis/1f511.png",
          authenticated,
          authenticate_url: `${accessUrl}/external-auth/git`
        },
        {
          id: "lab",
          type: "gitlab",
          display_name: "GitLab",
          display_icon: "/icon/gitlab.svg",
          authenticated: false,
          authenticate_url: `${accessUrl}/external-auth/lab`,
          optional: true
        }
      ]
      expect(await needed()).toStrictEqual(views(false))
      const create = (name: string, token: string) =>
        server().call("POST", `/users/${person.user.id}/workspaces`, { token, body: { name, template_id: template.id } })
      const refused = await create("one", person.token)
      expect([refused.status, refused.body]).toMatchObject([403, { validations: [{ field: "external_auth", detail: "git" }] }])
      expect((await create("one", server().owner().token)).status).toBe(403)
      await link(server(), person)
      expect(await needed()).toStrictEqual(views(true))
      expect((await create("one", server().owner().token)).status).toBe(201)
    })

    once("fails the import of a template that needs a provider which is not configured", async () => {
      const version = await aVersion(server(), { external_auth: [{ id: "nope", optional: false }] })
      await ended(server(), version.job)
      const { job } = await getVersion(server(), version.id)
      expect([job.status, job.error]).toStrictEqual(["failed", expect.stringContaining('"nope"')])
      expect((await server().call("GET", `/templateversions/${version.id}/external-auth`, { token: server().owner().token })).status).toBe(
        404
      )
    })

    once("shows a page to sign in to a provider, and that it is connected afterwards", async () => {
      const person = await server().aMember()
      const browser = browserOf(server(), "octo")
      const before = await browser.visit(`${accessUrl}/external-auth/git`, asPerson(person))
      expect([before.status, before.text]).toStrictEqual([200, expect.stringContaining('href="/external-auth/git/callback"')])
      await link(server(), person, browser)
      expect((await browser.visit(`${accessUrl}/external-auth/git`, asPerson(person))).text).toContain("acme is connected")
      expect((await browser.visit(`${accessUrl}/external-auth/nope`, asPerson(person))).status).toBe(404)
    })
  },
  { accessUrl, options, provisioner: testEngines }
)
