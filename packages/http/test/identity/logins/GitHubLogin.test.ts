import { DeploymentOptions } from "@atelier/core/deployment"
import { StartError } from "@atelier/core/platform"
import { type GitHubOptions, makeGitHub } from "@atelier/http"
import { Effect, Redacted, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aBrowser } from "../../../../../test/outside/browser.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { githubClient, type GitHubPerson, type GitHubServer, startGitHub } from "../../../../../test/outside/github.js"
import { browserOf, callbackOf, origin, sessionOf } from "../../../../../test/outside/hostLogins.js"
import { type ServerOptions, startServer, type TestServer } from "../../../../../test/http/server.js"

const callback = callbackOf("github")
const defaults = Effect.runSync(DeploymentOptions)
const client = { ...githubClient, oauth2GithubClientSecret: Redacted.make(githubClient.oauth2GithubClientSecret) }

let people = 1000
const somebody = (fields: Partial<GitHubPerson> = {}): GitHubPerson => {
  const id = ++people
  return { id, login: `octo_cat${id}`, emails: [{ email: `cat${id}@example.com`, primary: true, verified: true }], ...fields }
}

let github: GitHubServer
const servers: Array<TestServer> = []

beforeAll(async () => {
  github = await startGitHub(somebody())
})
afterAll(async () => {
  for (const server of servers) await server.close()
  await github.close()
})

const serve = async (options: ServerOptions["options"]): Promise<TestServer> => {
  const server = await startServer(sqlite, {
    options: { ...githubClient, oauth2GithubEnterpriseBaseUrl: `${github.url}/`, oauth2GithubAllowSignups: true, ...options }
  })
  servers.push(server)
  return server
}

const logIn = async (server: TestServer, person: GitHubPerson, query = "") => {
  github.person = person
  const browser = browserOf(server)
  const start = await browser.visit(`${callback}${query}`)
  const back = await browser.visit(start.location ?? "")
  const page = await browser.visit(back.location ?? "")
  return { page, me: async () => (await server.call("GET", "/users/me", { token: sessionOf(browser) ?? "" })).body }
}

describe("a login by GitHub", () => {
  it("creates an account from GitHub's answer", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true })
    const start = await browserOf(server).visit(callback)
    const { origin: where, pathname, searchParams } = new URL(start.location ?? "")
    expect([where, pathname, searchParams.get("scope"), searchParams.get("code_challenge_method")]).toStrictEqual([
      github.url,
      "/login/oauth/authorize",
      "read:user read:org user:email",
      "S256"
    ])
    const person = somebody({ name: " Octo Cat ", avatar_url: "https://example.com/cat.png" })
    const { me, page } = await logIn(server, person, "?redirect=/templates")
    expect([page.status, page.headers.get("location")]).toStrictEqual([307, "/templates"])
    expect(await me()).toMatchObject({
      username: `octo-cat${person.id}`,
      email: person.emails[0]?.email,
      name: "Octo Cat",
      avatar_url: "https://example.com/cat.png",
      login_type: "github"
    })
    // An enterprise server's ids are not those of github.com
    expect(await atGitHubDotCom(server, person.id)).toBe(0)
    expect((await server.call("GET", "/users/authmethods")).body).toMatchObject({
      github: { enabled: true, default_provider_configured: false }
    })
  })

  it("needs a primary address that is verified, and an id", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true })
    const email = "cat@example.com"
    const refused = [
      await logIn(server, somebody({ emails: [{ email, primary: true, verified: false }] })),
      await logIn(server, somebody({ emails: [{ email, primary: false, verified: true }] })),
      await logIn(server, somebody({ emails: [] })),
      await logIn(server, somebody({ id: 0 }))
    ]
    expect(refused.map(({ page }) => page.status)).toStrictEqual([400, 400, 400, 500])
  })

  it("makes no accounts unless the operator wants it", async () => {
    const { page } = await logIn(await serve({ oauth2GithubAllowEveryone: true, oauth2GithubAllowSignups: false }), somebody())
    expect([page.status, page.headers.get("content-type")]).toStrictEqual([403, "text/html; charset=utf-8"])
  })

  it("admits active members of the allowed organizations only", async () => {
    const server = await serve({ oauth2GithubAllowedOrgs: ["Acme"] })
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`org${index}`, "active" as const]))
    expect((await logIn(server, somebody({ organizations: { ...many, ACME: "active" } }))).page.status).toBe(307)
    for (const organizations of [{}, { acme: "pending" as const }, { acmes: "active" as const }]) {
      const { page } = await logIn(server, somebody({ organizations }), "?redirect=/x?y")
      const location = new URL(page.location ?? "")
      expect([page.status, location.pathname, location.searchParams.get("redirect")]).toStrictEqual([401, "/login", "/x?y"])
      expect(location.searchParams.get("message")).toContain("organization")
    }
  })

  it("admits active members of allowed teams", async () => {
    const server = await serve({ oauth2GithubAllowedOrgs: ["acme", "other"], oauth2GithubAllowedTeams: ["acme/Core", "other/ops"] })
    const status = async (teams: ReadonlyArray<string>, organizations: GitHubPerson["organizations"] = { acme: "active" }) =>
      (await logIn(server, somebody({ organizations, teams }))).page.status
    expect(await status(["acme/docs", "ACME/core"])).toBe(307)
    expect(await status(["acme/docs"])).toBe(401)
    expect(await status(["other/ops"])).toBe(401)
    expect(await status(["other/core"], { acme: "active", other: "active" })).toBe(401)
  })

  it("is refused with a code verifier of another login", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true })
    github.person = somebody()
    const [one, other] = [browserOf(server), browserOf(server)]
    const mine = new URL((await one.visit((await one.visit(callback)).location ?? "")).location ?? "")
    const theirs = new URL((await other.visit((await other.visit(callback)).location ?? "")).location ?? "")
    mine.searchParams.set("code", theirs.searchParams.get("code") ?? "")
    expect((await one.visit(mine.href)).status).toBe(500)
    expect(sessionOf(one)).toBeUndefined()
  })

  it("keeps the account at github.com where it is there", async () => {
    const endpoints = { web: github.url, api: `${github.url}/api/v3`, isPublic: true }
    const server = await startServer(sqlite, {
      loginProviders: [makeGitHub({ ...defaults, ...client, oauth2GithubAllowEveryone: true, oauth2GithubAllowSignups: true }, endpoints)]
    })
    const person = somebody()
    expect((await logIn(server, person)).page.status).toBe(307)
    expect(await atGitHubDotCom(server, person.id)).toBe(1)
    await server.close()
  })

  it("rejects options that contradict themselves or admit no user", () => {
    const make = (options: Partial<GitHubOptions>) => () => makeGitHub({ ...defaults, ...client, ...options })
    expect(make({})).toThrow(StartError)
    expect(make({ oauth2GithubAllowEveryone: true, oauth2GithubAllowedOrgs: ["acme"] })).toThrow(StartError)
    expect(make({ oauth2GithubAllowedOrgs: ["acme"], oauth2GithubAllowedTeams: ["core"] })).toThrow(StartError)
    expect(make({ oauth2GithubAllowEveryone: true, oauth2GithubEnterpriseBaseUrl: "nowhere" })).toThrow(StartError)
  })
})

/** How many users have that account. */
const atGitHubDotCom = async (server: TestServer, id: number): Promise<number> => {
  const answer = await server.call("GET", `/users?q=github_com_user_id:${id}`, { token: server.owner().token })
  return answer.as(Schema.Struct({ count: Schema.Number })).count
}

describe("a login of a device by GitHub", () => {
  it("shows a code, waits until it has been entered, and ends with a session", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true, oauth2GithubDeviceFlow: true })
    github.person = somebody()
    github.isAllowed = false
    const browser = aBrowser({ [origin]: server.url })
    const start = await browser.visit(`${callback}?redirect=/workspaces`)
    expect([start.status, start.headers.get("location")]).toStrictEqual([
      307,
      `/login/device?state=${browser.jar(origin).get("oauth_state")}`
    ])
    const shown = await browser.visit(`${origin}/api/v2/users/oauth2/github/device`)
    expect([shown.status, JSON.parse(shown.text)]).toStrictEqual([
      200,
      { device_code: "device", user_code: "ABCD-1234", verification_uri: `${github.url}/login/device`, expires_in: 900, interval: 5 }
    ])
    const poll = (code = "device") =>
      browser.visit(`${callback}?${new URLSearchParams({ code, state: browser.jar(origin).get("oauth_state") ?? "" })}`)
    for (let time = 0; time < 2; time++) {
      const waiting = await poll()
      expect([waiting.status, JSON.parse(waiting.text)]).toMatchObject([400, { detail: "authorization_pending" }])
    }
    github.isAllowed = true
    const done = await poll()
    expect([done.status, JSON.parse(done.text)]).toStrictEqual([200, { redirect_url: "/workspaces" }])
    expect((await server.call("GET", "/users/me", { token: sessionOf(browser) ?? "" })).body).toMatchObject({ login_type: "github" })
  })

  it("continues after asking too often, and after a failure of GitHub", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true, oauth2GithubDeviceFlow: true })
    github.person = somebody()
    github.isAllowed = true
    const browser = browserOf(server)
    const state = new URL((await browser.visit(callback)).location ?? "").searchParams.get("state") ?? ""
    const poll = () => browser.visit(`${callback}?${new URLSearchParams({ code: "device", state })}`)
    github.deviceError = "slow_down"
    const early = await poll()
    expect([early.status, JSON.parse(early.text)]).toMatchObject([400, { detail: "authorization_pending" }])
    github.deviceError = "server_error"
    expect((await poll()).status).toBe(500)
    expect((await poll()).status).toBe(200)
  })

  it("is refused in JSON", async () => {
    const server = await serve({ oauth2GithubAllowedOrgs: ["acme"], oauth2GithubDeviceFlow: true })
    github.person = somebody()
    github.isAllowed = true
    const browser = browserOf(server)
    const state = new URL((await browser.visit(callback)).location ?? "").searchParams.get("state") ?? ""
    const page = await browser.visit(`${callback}?${new URLSearchParams({ code: "device", state })}`)
    expect([page.status, page.headers.get("location"), page.headers.get("content-type")]).toStrictEqual([
      401,
      null,
      "application/json; charset=utf-8"
    ])
  })

  it("is refused where browsers go to GitHub themselves", async () => {
    const server = await serve({ oauth2GithubAllowEveryone: true })
    expect((await server.call("GET", "/users/oauth2/github/device")).status).toBe(400)
  })
})
