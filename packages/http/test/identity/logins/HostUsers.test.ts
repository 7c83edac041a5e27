import { Atelier, type Authenticate, type HostRequest } from "@atelier/http"
import { UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { auditEntries } from "../../../../../test/http/audit.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../../test/records/workspaces.js"

type Identity = NonNullable<Awaited<ReturnType<Authenticate>>>

/** A host that keeps its sessions in memory and names one in the cookie `host_session`. */
const sessions = new Map<string, Identity | (() => Identity)>()
let asked: Array<HostRequest> = []

const authenticate: Authenticate = async (request) => {
  asked.push(request)
  const id = /(?:^|; )host_session=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1]
  const found = sessions.get(id ?? "")
  return typeof found === "function" ? found() : (found ?? null)
}

let made = 0
const aUser = (fields: Partial<Identity> = {}): Identity => {
  const subject = `subject-${++made}`
  return { subject, email: `${subject}@host.test`, email_verified: true, username: subject, ...fields }
}

/** Begins a session of the host; answers what its browser sends. */
const signedIn = (identity: Identity | (() => Identity)) => {
  const id = `session-${++made}`
  sessions.set(id, typeof identity === "function" ? identity : { session: id, ...identity })
  return { headers: { cookie: `host_session=${id}` }, end: () => sessions.delete(id) }
}

const Me = Schema.Struct({
  id: Uuid.Uuid,
  username: Schema.String,
  name: Schema.optionalWith(Schema.String, { default: () => "" }),
  email: Schema.String,
  login_type: Schema.String,
  roles: Schema.Array(Schema.Struct({ name: Schema.String })),
  organization_ids: Schema.Array(Schema.String)
})

const me = async (server: TestServer, { headers }: { readonly headers: Readonly<Record<string, string>> }) => {
  const answer = await server.call("GET", "/users/me", { headers })
  expect([answer.status, answer.text]).toStrictEqual([200, expect.anything()])
  return answer.as(Me)
}

const actionsOf = async (server: TestServer, id: Uuid.Uuid) =>
  (await server.run(auditEntries({ resource_id: id, resource_type: "api_key" }))).map(({ action, status_code }) => [action, status_code])

describeServerOnEach(
  "users of the host",
  (server, once) => {
    it("are created at their first request, once for concurrent ones, and audited", async () => {
      const browser = signedIn(aUser({ username: "ada", name: "Ada Lovelace" }))
      const all = await Promise.all(Array.from({ length: 5 }, () => me(server(), browser)))
      expect(new Set(all.map(({ id }) => id)).size).toBe(1)
      const [first] = all
      expect(first).toMatchObject({ username: "ada", name: "Ada Lovelace", login_type: "oidc", organization_ids: [expect.anything()] })
      expect(await actionsOf(server(), first?.id ?? Uuid.nil)).toStrictEqual([["register", 200]])
    })

    once("log in once in each session of the host, and are found by their subject", async () => {
      const user = aUser()
      const { id } = await me(server(), signedIn(user))
      const again = signedIn({ ...user, email: `renamed-${user.email}` })
      expect(await me(server(), again)).toMatchObject({ id, email: `renamed-${user.email}` })
      await me(server(), again)
      expect(await actionsOf(server(), id)).toStrictEqual([
        ["register", 200],
        ["login", 200]
      ])
    })

    once("are shown as the host describes them from the next request on", async () => {
      let name = "Before"
      const user = aUser()
      const browser = signedIn(() => ({ ...user, name }))
      const { id } = await me(server(), browser)
      name = "After"
      expect(await me(server(), browser)).toMatchObject({ id, name: "After" })
    })

    once("have the roles that their claims give, and lose them with the claims", async () => {
      let roles: ReadonlyArray<string> = ["auditor"]
      const user = aUser()
      const browser = signedIn(() => ({ ...user, claims: { roles } }))
      expect((await me(server(), browser)).roles.map(({ name }) => name)).toStrictEqual(["auditor"])
      roles = []
      expect((await me(server(), browser)).roles).toStrictEqual([])
    })

    once("are members of the organizations that their claims name", async () => {
      const { token } = server().owner()
      const made = await server().call("POST", "/organizations", { token, body: { name: `o${crypto.randomUUID().slice(0, 8)}` } })
      const { id } = made.as(Schema.Struct({ id: Uuid.Uuid }))
      const settings = { field: "teams", mapping: { core: [id] }, organization_assign_default: true }
      expect((await server().call("PATCH", "/settings/idpsync/organization", { token, body: settings })).status).toBe(200)
      const { organization_ids } = await me(server(), signedIn(aUser({ claims: { teams: ["core"] } })))
      expect(organization_ids).toHaveLength(2)
      expect(organization_ids).toContain(id)
    })

    once("are anonymous where the host knows no session, and from its end on", async () => {
      const browser = signedIn(aUser())
      await me(server(), browser)
      browser.end()
      expect((await server().call("GET", "/users/me", browser)).status).toBe(401)
      expect((await server().call("GET", "/users/me")).status).toBe(401)
      expect((await server().call("GET", "/buildinfo")).status).toBe(200)
    })

    once("are refused while suspended or with an unverified address", async () => {
      const browser = signedIn(aUser())
      const { id } = await me(server(), browser)
      expect((await server().call("PUT", `/users/${id}/status/suspend`, { token: server().owner().token })).status).toBe(200)
      expect((await server().call("GET", "/users/me", browser)).status).toBe(401)
      const unverified = await server().call("GET", "/users/me", signedIn(aUser({ email_verified: false })))
      expect([unverified.status, unverified.text]).toStrictEqual([403, expect.stringContaining("not verified")])
    })

    once("do not get the account of a user with the same address who logs in otherwise", async () => {
      const { user } = await server().aMember({ email: "taken@example.com" })
      const answer = await server().call("GET", "/users/me", signedIn(aUser({ email: "taken@example.com" })))
      expect(answer.status).toBe(403)
      const stored = await server().run(Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(user.id))))
      expect(stored.login_type).toBe("password")
    })

    once("are outranked by a token of the service, which the host is not asked about", async () => {
      const browser = signedIn(aUser())
      await me(server(), browser)
      asked = []
      const answer = await server().call("GET", "/users/me", { ...browser, token: server().owner().token })
      expect([answer.body, asked]).toMatchObject([{ username: "owner" }, []])
    })

    once("are shown to the host with the request as it came", async () => {
      asked = []
      await server().call("GET", "/users/me?x=1", { headers: { "x-custom": "y" } })
      expect(asked.map(({ address, method, url }) => [method, url, address])).toStrictEqual([["GET", "/api/v2/users/me?x=1", "127.0.0.1"]])
      expect(asked[0]?.headers.get("x-custom")).toBe("y")
    })

    once.each([
      [{ "sec-fetch-site": "cross-site", origin: "https://evil.test" }, 403],
      [{ "sec-fetch-site": "same-site", origin: "http://other.atelier.test" }, 403],
      [{ origin: "https://evil.test" }, 403],
      [{ origin: "null" }, 403],
      [{ "sec-fetch-site": "same-origin", origin: "http://elsewhere.test" }, 200],
      [{ origin: "http://atelier.test", "sec-fetch-site": "cross-site" }, 200],
      [{}, 200]
    ])("change nothing for a page of another origin: %j is %s", async (headers, status) => {
      const browser = signedIn(aUser())
      const { username } = await me(server(), browser)
      const answer = await server().call("PUT", "/users/me/profile", {
        headers: { ...browser.headers, ...headers },
        body: { username, name: "Changed" }
      })
      expect([answer.status, answer.text]).toStrictEqual([status, expect.anything()])
      expect((await me(server(), browser)).name).toBe(status === 200 ? "Changed" : "")
    })

    once("watch until the host's session ends, and not from a page of another origin", async () => {
      const browser = signedIn(aUser())
      const { id, organization_ids } = await me(server(), browser)
      const { workspace } = await server().run(
        Effect.gen(function* () {
          const template = yield* storedTemplate({ organization_id: Uuid.Uuid.make(organization_ids[0] ?? ""), created_by: id })
          return yield* storedWorkspace(template, id)
        })
      )
      const url = `${server().url.replace("http", "ws")}/api/v2/workspaces/${workspace.id}/watch-ws`
      const foreign = new WebSocket(url, { ...browser, origin: "https://evil.test" })
      const refusal = await new Promise((resolve) => foreign.on("unexpected-response", (_, { statusCode }) => resolve(statusCode)))
      expect(refusal).toBe(403)

      const socket = new WebSocket(url, browser)
      const ended = new Promise((resolve) => socket.on("close", resolve))
      await new Promise((resolve, reject) => socket.on("message", resolve).on("error", reject))
      const events = await fetch(`${server().url}/api/v2/workspaces/${workspace.id}/watch`, browser)
      expect(events.status).toBe(200)
      browser.end()
      // A judgement that had begun before the session ended finds it, and the next one is due 20 seconds later
      const passing = setInterval(() => server().advance("21 seconds"), 100)
      try {
        expect(await ended).toBe(1008)
        expect(await events.text()).toMatch(/event: error\ndata: .*session has expired/)
      } finally {
        clearInterval(passing)
      }
    })

    once("change things and watch from pages of an origin that the deployment lists", async () => {
      const browser = signedIn(aUser())
      const found = await me(server(), browser)
      const { id, organization_ids } = found
      const from = (origin: string) => ({ headers: { ...browser.headers, origin, "sec-fetch-site": "cross-site" } })
      const rename = async (origin: string) => {
        const body = { username: found.username, name: "Ada" }
        return (await server().call("PUT", "/users/me/profile", { ...from(origin), body })).status
      }
      expect([await rename("https://app.host.test"), await rename("https://evil.test")]).toStrictEqual([200, 403])
      const { workspace } = await server().run(
        Effect.gen(function* () {
          const template = yield* storedTemplate({ organization_id: Uuid.Uuid.make(organization_ids[0] ?? ""), created_by: id })
          return yield* storedWorkspace(template, id)
        })
      )
      const url = `${server().url.replace("http", "ws")}/api/v2/workspaces/${workspace.id}/watch-ws`
      const socket = new WebSocket(url, { ...browser, origin: "https://app.host.test" })
      await new Promise((resolve, reject) => socket.on("message", resolve).on("error", reject))
      const closed = new Promise((resolve) => socket.on("close", resolve))
      socket.close()
      await closed
    })

    once("link a provider of external authentication with the host's session", async () => {
      const browser = signedIn(aUser())
      const page = await server().call("GET", "//external-auth/git", browser)
      expect([page.status, page.text.includes("/external-auth/git/callback")]).toStrictEqual([200, true])
      const start = await fetch(`${server().url}/external-auth/git/callback`, { ...browser, redirect: "manual" })
      expect([start.status, new URL(start.headers.get("location") ?? "").host]).toStrictEqual([307, "git.test"])
      expect((await server().call("GET", "//external-auth/git")).status).toBe(401)
    })

    once("show errors in a host's answer in the log only", async () => {
      const wrong = (): Identity => JSON.parse('{ "subject": "", "email": 7, "email_verified": "yes" }')
      const answer = await server().call("GET", "/users/me", signedIn(wrong))
      expect([answer.status, answer.text]).toStrictEqual([500, expect.not.stringContaining("email")])
    })
  },
  {
    authenticate,
    options: {
      corsAllowedOrigins: ["https://App.host.test/"],
      oidcUserRoleField: "roles",
      externalAuthProviders: [
        { type: "custom", id: "git", client_id: "id", auth_url: "http://git.test/authorize", token_url: "http://git.test/token" }
      ]
    }
  }
)

it("a host's users and an OpenID Connect provider exclude each other", async () => {
  const options = { oidcIssuerUrl: "http://id.test", oidcClientId: "id", oidcClientSecret: "secret" }
  await expect(
    Atelier.make({ accessUrl: "http://atelier.test", storage: sqlite, logLevel: "none", authenticate, options })
  ).rejects.toThrow(/^authenticate: cannot be set together with an OpenID Connect provider/)
})
