/** Signed tokens of apps and terminals, and how workspace proxies come by them. agents-and-apps.md §20. */
import { Schema } from "effect"
import { decodeJwt, decodeProtectedHeader, jwtDecrypt, jwtVerify, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { anApp } from "../../../../test/records/resources.js"
import type { Person } from "../../../../test/http/server.js"
import { type AgentServer, describeAgentInterface, type RunningAgent } from "../agents/AgentServer.js"
import { link, webApp } from "../network/linkedAgents.js"

const Made = Schema.Struct({ proxy: Schema.Struct({ id: Schema.String }), proxy_token: Schema.String })
const Issued = Schema.Struct({ signed_token: Schema.String })
const IssuedApp = Schema.Struct({ signed_token_str: Schema.String })
const Keys = Schema.Struct({ crypto_keys: Schema.Array(Schema.Struct({ secret: Schema.String, sequence: Schema.Number })) })

const cookieName = "service_signed_app_token"

const aProxy = async (server: AgentServer, access_url = "https://east.test") => {
  const name = `p${randomUUID().slice(0, 8)}`
  const { proxy_token } = (
    await server.call("POST", "/workspaceproxies", { token: server.owner().token, body: { name, display_name: "", icon: "" } })
  ).as(Made)
  const headers = { "Service-External-Proxy-Token": proxy_token }
  await server.call("POST", "/workspaceproxies/me/register", {
    headers,
    body: { access_url, wildcard_hostname: "*.east.test", replica_id: randomUUID(), version: "v2" }
  })
  return headers
}

const pathRequest = (agent: RunningAgent, changes: object = {}) => ({
  access_method: "path",
  base_path: `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web/`,
  app_prefix: "",
  username_or_id: agent.owner.username,
  workspace_name_or_id: agent.workspace.name,
  agent_name_or_id: "main",
  app_slug_or_port: "web",
  ...changes
})

const issue = (server: AgentServer, headers: Record<string, string>, app_request: object, session_token = server.owner().token) =>
  server.call("POST", "/workspaceproxies/me/issue-signed-app-token", {
    headers,
    body: {
      app_request,
      path_app_base_url: "https://east.test",
      app_hostname: "web--dev--ann.east.test",
      app_path: "/a",
      app_query: "b=1",
      session_token
    }
  })

const anAppAt = async (server: AgentServer, of?: Person) => {
  const port = await webApp((_, response) => void response.end("app"))
  const url = `http://127.0.0.1:${port}`
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url }), anApp({ slug: "other", url })] }, of)
  await link(server, agent)
  const base = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web/`
  return { agent, base }
}

/** What an app's address answers to a browser with these cookies alone. */
const visit = (server: AgentServer, path: string, cookie: string) =>
  fetch(`${server.url}${path}`, { headers: { cookie }, redirect: "manual" })

/** The status that a terminal's address answers with: 101 where it opens. */
const knock = (server: AgentServer, agent: string, query: Readonly<Record<string, string>>) =>
  new Promise<number>((resolve, reject) => {
    const parameters = new URLSearchParams({ reconnect: randomUUID(), ...query })
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/v2/workspaceagents/${agent}/pty?${parameters}`)
    socket.on("open", () => {
      resolve(101)
      socket.close()
    })
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0))
    socket.on("error", reject)
  })

const tokenIn = (response: Response): string =>
  response.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${cookieName}=`))
    ?.split(";", 1)[0]
    ?.slice(cookieName.length + 1) ?? ""

describeAgentInterface("a signed token", (server) => {
  it("comes with an app's first answer, and opens that app without a session", async () => {
    const { agent, base } = await anAppAt(server())
    const first = await visit(server(), base, `service_session_token=${server().owner().token}`)
    const token = tokenIn(first)
    expect(first.headers.getSetCookie().at(-1)).toMatch(
      new RegExp(`^${cookieName}=[^;]+; Path=${base}; Expires=[^;]+; HttpOnly; SameSite=Lax$`)
    )
    expect([decodeProtectedHeader(token), decodeJwt(token)]).toMatchObject([
      { alg: "HS512", kid: "1" },
      {
        request: pathRequest(agent),
        user_id: agent.owner.id,
        workspace_id: agent.workspace.id,
        agent_id: agent.id,
        cors_behavior: "simple"
      }
    ])
    const second = await visit(server(), base, `${cookieName}=x; ${cookieName}=${token}`)
    expect([second.status, await second.text(), tokenIn(second)]).toStrictEqual([200, "app", ""])
  })

  it("opens no other app and no terminal", async () => {
    const { agent, base } = await anAppAt(server())
    const token = tokenIn(await visit(server(), base, `service_session_token=${server().owner().token}`))
    const other = await visit(server(), base.replace("/web/", "/other/"), `${cookieName}=${token}`)
    expect([other.status, other.headers.get("location")]).toMatchObject([303, expect.stringContaining("/login")])
    const renamed = await visit(server(), base.replace("/@", "/%40"), `${cookieName}=${token}`)
    expect(renamed.status).toBe(303)
    expect(await knock(server(), agent.id, { service_signed_app_token_23db1dde: token })).toBe(404)
  })

  it("opens nothing with another key, another algorithm, or without a key", async () => {
    const { base } = await anAppAt(server())
    const token = tokenIn(await visit(server(), base, `service_session_token=${server().owner().token}`))
    const claims = decodeJwt(token)
    const sign = (alg: string, kid: string | undefined, key = new Uint8Array(64)) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) }).sign(key)
    const { crypto_keys } = (
      await server().call("GET", "/workspaceproxies/me/crypto-keys?feature=workspace_apps_token", { headers: await aProxy(server()) })
    ).as(Keys)
    const secret = Buffer.from(crypto_keys[0]?.secret ?? "", "hex")
    const unsigned = `${Buffer.from('{"alg":"none","kid":"1"}').toString("base64url")}.${token.split(".")[1]}.`
    const forged = [await sign("HS512", "1"), await sign("HS512", "9", secret), await sign("HS512", undefined, secret), unsigned]
    forged.push(await sign("HS256", "1", secret), token.slice(0, -4), "", "a.b.c")
    for (const one of forged) expect((await visit(server(), base, `${cookieName}=${one}`)).status).toBe(303)
    // The right key and the right header do open it
    expect((await visit(server(), base, `${cookieName}=${await sign("HS512", "1", secret)}`)).status).toBe(200)
  })

  it("opens nothing after its minute", async () => {
    const { base } = await anAppAt(server())
    const token = tokenIn(await visit(server(), base, `service_session_token=${server().owner().token}`))
    const { crypto_keys } = (
      await server().call("GET", "/workspaceproxies/me/crypto-keys?feature=workspace_apps_token", { headers: await aProxy(server()) })
    ).as(Keys)
    const secret = Buffer.from(crypto_keys[0]?.secret ?? "", "hex")
    const past = Math.floor(Date.now() / 1000) - 1
    const expired = await new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: "HS512", kid: "1" }).setExpirationTime(past).sign(secret)
    expect((await visit(server(), base, `${cookieName}=${expired}`)).status).toBe(303)
    const { exp: _, ...unending } = decodeJwt(token)
    const endless = await new SignJWT(unending).setProtectedHeader({ alg: "HS512", kid: "1" }).sign(secret)
    expect((await visit(server(), base, `${cookieName}=${endless}`)).status).toBe(303)
    expect((decodeJwt(token).exp ?? 0) * 1000 - Date.now()).toBeLessThanOrEqual(60_000)
  })

  it("ends with the session of its user", async () => {
    const member = await server().aMember()
    const { base } = await anAppAt(server(), member)
    const token = tokenIn(await visit(server(), base, `service_session_token=${member.token}`))
    expect((await visit(server(), base, `${cookieName}=${token}`)).status).toBe(200)
    await server().call("POST", "/users/logout", { token: member.token })
    expect((await visit(server(), base, `${cookieName}=${token}`)).status).toBe(303)
  })

  it("is issued to a proxy for an app that its visitor may open", async () => {
    const { agent } = await anAppAt(server())
    const headers = await aProxy(server())
    const issued = await issue(server(), headers, pathRequest(agent))
    expect(issued.status).toBe(201)
    const { crypto_keys } = (await server().call("GET", "/workspaceproxies/me/crypto-keys?feature=workspace_apps_token", { headers })).as(
      Keys
    )
    const { payload } = await jwtVerify(issued.as(IssuedApp).signed_token_str, Buffer.from(crypto_keys[0]?.secret ?? "", "hex"))
    expect(payload).toMatchObject({ request: pathRequest(agent), agent_id: agent.id, app_url: expect.stringContaining("127.0.0.1") })

    const stranger = await server().aMember()
    expect((await issue(server(), headers, pathRequest(agent), stranger.token)).status).toBe(404)
    const anonymous = await issue(server(), headers, pathRequest(agent), "")
    expect([anonymous.status, anonymous.headers.get("location")]).toStrictEqual([
      303,
      `http://atelier.test/api/v2/applications/auth-redirect?${new URLSearchParams({ redirect_uri: `https://east.test${pathRequest(agent).base_path}a?b=1` })}`
    ])
    const subdomain = await issue(server(), headers, pathRequest(agent, { access_method: "subdomain", base_path: "/" }), "")
    expect(new URL(subdomain.headers.get("location") ?? "").searchParams.get("redirect_uri")).toBe("https://web--dev--ann.east.test/a?b=1")
    expect((await issue(server(), { "Service-External-Proxy-Token": "x" }, pathRequest(agent))).status).toBe(401)
  })

  it("names the base of its request with a slash at the end, as proxies compare it", async () => {
    const { agent, base } = await anAppAt(server())
    const answer = await issue(server(), await aProxy(server()), pathRequest(agent, { base_path: base.slice(0, -1) }))
    expect(decodeJwt(answer.as(IssuedApp).signed_token_str)).toMatchObject({ request: pathRequest(agent) })
  })

  it("opens a terminal for a user who may, from a proxy's address only", async () => {
    const { agent } = await anAppAt(server())
    await aProxy(server(), "https://west.test")
    const ask = (url: string, agentID: string = agent.id, token = server().owner().token) =>
      server().call("POST", "/applications/reconnecting-pty-signed-token", { token, body: { url, agentID } })
    const address = `wss://west.test/api/v2/workspaceagents/${agent.id}/pty`
    const issued = await ask(address)
    expect(issued.status).toBe(200)
    const token = issued.as(Issued).signed_token
    expect(await knock(server(), agent.id, { service_signed_app_token_23db1dde: token })).toBe(101)
    const another = await server().anAgent()
    await link(server(), another)
    expect(await knock(server(), another.id, { service_signed_app_token_23db1dde: token })).toBe(404)

    for (const wrong of [address.replace("west", "nowhere"), address.replace("wss:", "https:"), `${address}/x`, "x"]) {
      expect([wrong, (await ask(wrong)).status]).toStrictEqual([wrong, 400])
    }
    const stranger = await server().aMember()
    const nowhere = randomUUID()
    const refused = await ask(address, agent.id, stranger.token)
    const missing = await ask(address.replace(agent.id, nowhere), nowhere)
    expect([refused.status, refused.body]).toStrictEqual([404, missing.body])
    const key = await server().call("POST", "/users/me/keys/tokens", {
      token: server().owner().token,
      body: { scope: "application_connect", token_name: randomUUID() }
    })
    expect((await ask(address, agent.id, key.as(Schema.Struct({ key: Schema.String })).key)).status).toBe(404)
  })
})

describeAgentInterface(
  "a session for an app at a workspace proxy",
  (server) => {
    it("is brought by the browser, encrypted with the deployment's keys", async () => {
      const headers = await aProxy(server(), "https://east.test:8443")
      const handOver = (uri: string) =>
        fetch(`${server().url}/api/v2/applications/auth-redirect?${new URLSearchParams({ redirect_uri: uri })}`, {
          headers: { "service-session-token": server().owner().token },
          redirect: "manual"
        })
      const locationOf = async (uri: string) => new URL((await handOver(uri)).headers.get("location") ?? "")
      const path = await locationOf("http://east.test/@ann/dev/apps/web/a?b=1")
      expect([path.origin, path.pathname, path.searchParams.get("b")]).toStrictEqual([
        "https://east.test:8443",
        "/@ann/dev/apps/web/a",
        "1"
      ])
      const host = await locationOf("http://web--dev--ann.east.test/")
      expect(host.origin).toBe("https://web--dev--ann.east.test:8443")

      const answer = await server().call("GET", "/workspaceproxies/me/crypto-keys?feature=workspace_apps_api_key", { headers })
      const [key] = answer.as(Keys).crypto_keys
      const text = host.searchParams.get("service_application_connect_api_key_35e783") ?? ""
      const secret = Buffer.from(key?.secret ?? "", "hex")
      const { payload, protectedHeader } = await jwtDecrypt(text, secret, { issuer: "serviced", audience: "wsproxy" })
      expect(protectedHeader).toMatchObject({ alg: "A256GCMKW", enc: "A256GCM", kid: String(key?.sequence) })
      expect(payload).toMatchObject({ api_key: expect.stringMatching(/./), host: "web--dev--ann.east.test" })
      const visitor = await server().call("GET", "/users/me", { token: String(payload["api_key"]) })
      expect(visitor.status).toBeGreaterThanOrEqual(400)

      const elsewhere = [
        "https://east.test:8443/",
        "https://east.test:8443/api/v2/users",
        "https://nothing.east.test/",
        "https://a.b.east.test/"
      ]
      for (const uri of elsewhere) expect([uri, (await handOver(uri)).status]).toStrictEqual([uri, 400])
    })
  },
  { options: { wildcardAccessUrl: "*.apps.test" } }
)
