/** Workspace proxies of this product, on ports of their own. agents-and-apps.md §21. */
import { WorkspaceProxy } from "@atelier/http"
import { makeServer } from "@atelier/http/node"
import { Effect, Exit, Logger, Schema, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type RequestListener } from "node:http"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { anApp } from "../../../../test/records/resources.js"
import { type AgentServer, describeAgentInterface } from "../agents/AgentServer.js"
import { link, listening, webApp } from "../network/linkedAgents.js"
import { exchangeBytes, hidden, misleadingHeads, notingApp } from "./rawRequests.js"

const Made = Schema.Struct({ proxy: Schema.Struct({ id: Schema.String }), proxy_token: Schema.String })
const Signed = Schema.Struct({ signed_token: Schema.String })

/** A new proxy's id and token. */
const newProxy = async (server: AgentServer) => {
  const body = { name: `p${randomUUID().slice(0, 8)}`, display_name: "", icon: "" }
  const { proxy, proxy_token } = (await server.call("POST", "/workspaceproxies", { token: server.owner().token, body })).as(Made)
  return { id: proxy.id, token: proxy_token }
}

/** Starts a proxy on a port of its own, for the time of the test. */
const startProxy = async (server: AgentServer, token: string, primaryAccessUrl = server.url) => {
  const listener = makeServer()
  const port = await listening(listener)
  const url = `http://127.0.0.1:${port}`
  const scope = Effect.runSync(Scope.make())
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
    Effect.runPromise(effect.pipe(Scope.extend(scope), Effect.provide(Logger.remove(Logger.defaultLogger))))
  const { handler, register, upgrade } = await run(
    WorkspaceProxy.make({ primaryAccessUrl, token, accessUrl: url, wildcardAccessUrl: "*.east.test" })
  )
  listener.on("request", handler).on("upgrade", upgrade)
  await run(register)
  return { url, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

const get = (url: string, path: string, headers: OutgoingHttpHeaders = {}, { body = "", method = "GET" } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    sent.on("error", reject)
    sent.end(body)
  })

const echo: RequestListener = (incoming, response) => {
  let body = ""
  incoming.on("data", (chunk) => (body += String(chunk)))
  incoming.on("end", () => response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers, body })))
}

/** An agent with an app, and the app's path and host at a proxy. */
const anAppAt = async (server: AgentServer, listener: RequestListener = echo) => {
  const port = await webApp(listener)
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url: `http://127.0.0.1:${port}` })] })
  await link(server, agent)
  const { owner, workspace } = agent
  return {
    agent,
    path: `/@${owner.username}/${workspace.name}.main/apps/web/`,
    host: `web--${workspace.name}--${owner.username}.east.test`
  }
}

const cookieOf = (answer: Answer, name: string): string =>
  answer.headers["set-cookie"]?.find((line) => line.startsWith(`${name}=`))?.split(";", 1)[0] ?? ""

/** Opens an app in a browser that is signed in to the service: by its redirection there and back. Answers the session at the proxy. */
const signIn = async (server: AgentServer, url: string, path: string, headers: OutgoingHttpHeaders, cookie: string) => {
  const away = new URL((await get(url, path, headers)).headers.location ?? "")
  expect([away.host, away.pathname]).toStrictEqual(["atelier.test", "/api/v2/applications/auth-redirect"])
  const signedIn = { host: "atelier.test", cookie: `service_session_token=${server.owner().token}` }
  const back = new URL((await get(server.url, `${away.pathname}${away.search}`, signedIn)).headers.location ?? "")
  const begun = await get(url, `${back.pathname}${back.search}`, headers)
  expect([begun.status, begun.headers.location]).toStrictEqual([303, path])
  return { back, session: cookieOf(begun, cookie) }
}

describeAgentInterface(
  "a workspace proxy",
  (server) => {
    it("serves an app by path, to a visitor who signs in at the service", async () => {
      const { path } = await anAppAt(server())
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const { back, session } = await signIn(server(), url, `${path}a?b=1`, {}, "service_path_app_session_token")
      expect(back.origin).toBe(url)

      const answer = await get(url, `${path}a?b=1`, { cookie: session, "x-forwarded-for": "10.9.8.7" }, { method: "POST", body: "text" })
      const { headers, ...echoed } = JSON.parse(answer.body) as { headers: Record<string, string>; url: string; body: string }
      expect(echoed).toStrictEqual({ url: "/a?b=1", body: "text" })
      expect(headers).toMatchObject({ "x-forwarded-host": new URL(url).host, "x-forwarded-proto": "http", "x-forwarded-for": "127.0.0.1" })
      expect(Object.keys(headers).filter((name) => /cookie|proxy/.test(name))).toStrictEqual([])

      // The right to the app, for a minute
      const token = cookieOf(answer, "service_signed_app_token")
      expect((await get(url, path, { cookie: token })).status).toBe(200)
      // It is no session of the service
      const [, key = ""] = session.split("=")
      expect((await server().call("GET", "/users/me", { token: key })).status).not.toBe(200)
      await server().call("POST", "/users/logout", { token: key })
    })

    it("gives a request an id that its answer, the service and the agent's log have", async () => {
      const port = await webApp(echo)
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://127.0.0.1:${port}` })] })
      const lines: Array<unknown> = []
      const log = Logger.make<unknown, void>(({ annotations, message }) => {
        lines.push([message, Object.fromEntries(annotations)["request_id"]])
      })
      await link(server(), agent, undefined, undefined, log)
      const path = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web/`
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const { session } = await signIn(server(), url, path, {}, "service_path_app_session_token")
      const own = randomUUID()
      const answer = await get(url, path, { cookie: session, "x-service-request-id": own })
      const id = answer.headers["x-service-request-id"]
      expect(id).toMatch(/^[0-9a-f-]{36}$/)
      expect(id).not.toBe(own)
      expect((JSON.parse(answer.body) as { headers: unknown }).headers).toMatchObject({ "x-service-request-id": id })
      expect(lines).toContainEqual([["The server opens a stream: tcp"], id])
      // No other client names its requests
      expect((await get(server().url, "/healthz", { "x-service-request-id": own })).headers["x-service-request-id"]).not.toBe(own)
    })

    it("sends one request for each that it gets, whatever the client's Connection header names", async () => {
      const { port, seen } = await notingApp()
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://127.0.0.1:${port}` })] })
      await link(server(), agent)
      const path = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web/`
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const { session } = await signIn(server(), url, path, {}, "service_path_app_session_token")
      const { host } = new URL(url)
      for (const bytes of misleadingHeads(path, `Host: ${host}\r\nCookie: ${session}\r\n`)) {
        seen.length = 0
        expect(await exchangeBytes(url, bytes)).toMatch(/^HTTP\/1.1 200 /)
        expect(seen).toHaveLength(1)
        expect(seen[0]).toMatch(new RegExp(`^${bytes.split(" ")[0]} / .*${hidden}$`, "s"))
      }
    })

    it("sends a request for another protocol on without a body", async () => {
      const { path } = await anAppAt(server())
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const head = `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: other\r\n`
      const answer = await exchangeBytes(url, `${head}Content-Length: ${hidden.length}\r\n\r\n${hidden}`)
      // The service sends the visitor to sign in, and waits for nothing more
      expect(answer).toMatch(/^HTTP\/1.1 303 /)
      expect(answer.match(/^HTTP\/1.1/gm)).toHaveLength(1)
    })

    it("serves an app on a host of its own, also by WebSocket", async () => {
      const sockets = new WebSocketServer({ noServer: true })
      const heads: Array<IncomingMessage["headers"]> = []
      const listener: RequestListener = (_, response) => void response.end("app")
      const app = createServer(listener).on("upgrade", (incoming, socket, head) => {
        heads.push(incoming.headers)
        sockets.handleUpgrade(incoming, socket, head, (webSocket) =>
          webSocket.on("message", (data) => webSocket.send(`echo ${String(data)}`))
        )
      })
      const port = await listening(app)
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://127.0.0.1:${port}` })] })
      await link(server(), agent)
      const host = `web--${agent.workspace.name}--${agent.owner.username}.east.test`
      const proxy = await newProxy(server())
      const { url } = await startProxy(server(), proxy.token)
      const { session } = await signIn(server(), url, "/healthz", { host }, "service_subdomain_app_session_token")
      expect(await get(url, "/healthz", { host, cookie: session })).toMatchObject({ status: 200, body: "app" })

      const socket = new WebSocket(url.replace("http", "ws"), { headers: { host, cookie: session } })
      const heard = new Promise<string>((resolve) => socket.once("message", (data: Buffer) => resolve(data.toString())))
      const closed = new Promise<void>((resolve) => socket.once("close", resolve))
      socket.once("open", () => socket.send("hello"))
      expect(await heard).toBe("echo hello")
      expect(Object.keys(heads[0] ?? {}).filter((name) => /cookie|workspace-proxy|external-proxy/.test(name))).toStrictEqual([])
      // Its token ends with it, and so do its visitors' streams
      await server().call("DELETE", `/workspaceproxies/${proxy.id}`, { token: server().owner().token })
      await closed
      expect((await get(url, "/", { host, cookie: session })).status).toBe(401)
    })

    it("serves a terminal to the holder of a token for it", async () => {
      const { agent } = await anAppAt(server())
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const address = `${url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/pty`
      const issued = await server().call("POST", "/applications/reconnecting-pty-signed-token", {
        token: server().owner().token,
        body: { url: address, agentID: agent.id }
      })
      const query = new URLSearchParams({ reconnect: randomUUID(), command: "echo from $((20 + 22))" })
      const refused = new WebSocket(`${address}?${query}`)
      expect(
        await new Promise((resolve) =>
          refused.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)).on("error", () => undefined)
        )
      ).toBe(404)
      query.set("service_signed_app_token_23db1dde", issued.as(Signed).signed_token)
      const socket = new WebSocket(`${address}?${query}`, { headers: { origin: "http://atelier.test" } })
      let text = ""
      socket.on("message", (data: Buffer) => (text += data.toString()))
      expect(await new Promise((resolve) => socket.once("close", resolve))).toBe(1000)
      expect(text).toContain("from 42")
    })

    it("tells a visitor without a right nothing about apps and terminals", async () => {
      const { agent, path } = await anAppAt(server())
      const { url } = await startProxy(server(), (await newProxy(server())).token)
      const ask = async (address: string) => {
        const { body, headers, status } = await get(url, address)
        return { status, body, location: headers.location?.replace(encodeURIComponent(address), "ADDRESS") }
      }
      const absent = await ask("/@owner/nothing.main/apps/web/")
      expect(absent.status).toBe(303)
      expect(await ask(path)).toStrictEqual(absent)
      await server().store(aBuild(agent, { transition: "stop", resources: [] }))
      expect(await ask(path)).toStrictEqual(absent)
      const terminal = (id: string) => ask(`/api/v2/workspaceagents/${id}/pty?reconnect=${randomUUID()}`)
      expect(await terminal(agent.id)).toStrictEqual(await terminal(randomUUID()))
    })

    it("passes on nothing else, and believes no visitor", async () => {
      const { host, path } = await anAppAt(server())
      const { token } = await newProxy(server())
      const { url } = await startProxy(server(), token)
      const session = { "service-session-token": server().owner().token }
      for (const other of ["/api/v2/users/me", "/api/v2/workspaceproxies", "/", "/login", "//evil/@a/b/apps/c/"]) {
        expect([other, (await get(url, other, session)).status]).toStrictEqual([other, 404])
      }
      expect((await get(url, "/", { host: "other.east.test" })).status).toBe(400)
      // The visitor's word for another host and another address is dropped
      const claims = { "service-workspace-proxy-host": host, "service-workspace-proxy-real-ip": "10.0.0.1", "x-forwarded-host": host }
      const answer = await get(url, path, { ...session, ...claims })
      expect(JSON.parse(answer.body)).toMatchObject({ headers: { "x-forwarded-host": new URL(url).host, "x-forwarded-for": "127.0.0.1" } })
      // The service accepts a proxy only with its token
      for (const proxyToken of [{}, { "service-external-proxy-token": `${token}x` }]) {
        const visit = await get(server().url, "/", { ...session, ...claims, ...proxyToken })
        expect([visit.status, visit.headers.location]).toStrictEqual([401, undefined])
      }
      const direct = { ...session, ...claims, "service-external-proxy-token": token }
      expect((await get(server().url, "/api/v2/users/me", { ...direct, "service-workspace-proxy-host": new URL(url).host })).status).toBe(
        404
      )
    })

    it("tells its health, and is known to the service until it stops", async () => {
      const proxy = await newProxy(server())
      const { stop, url } = await startProxy(server(), proxy.token)
      expect(await get(url, "/healthz")).toMatchObject({ status: 200, body: "OK" })
      expect((await get(url, "/latency-check")).headers).toMatchObject({ "timing-allow-origin": "*", "access-control-allow-origin": "*" })
      expect(JSON.parse((await get(url, "/healthz-report")).body)).toStrictEqual({ errors: [], warnings: [] })
      const look = () => server().call("GET", `/workspaceproxies/${proxy.id}`, { token: server().owner().token })
      expect((await look()).body).toMatchObject({ path_app_url: url, wildcard_hostname: "*.east.test", derp_enabled: false })
      await expect.poll(async () => (await look()).body).toMatchObject({ status: { status: "ok" }, healthy: true })
      await stop()
      // A process that has ended is no sibling of another
      const registration = { access_url: url, wildcard_hostname: "", replica_id: randomUUID(), version: "v2" }
      const headers = { "service-external-proxy-token": proxy.token }
      const registered = await server().call("POST", "/workspaceproxies/me/register", { headers, body: registration })
      expect(registered.body).toMatchObject({ sibling_replicas: [] })
    })

    it("does not start with a token that the service refuses", async () => {
      const failing = startProxy(server(), `${randomUUID()}:${"x".repeat(64)}`)
      await expect(failing).rejects.toThrow("token: The token of the workspace proxy is not valid.")
      const { url } = await startProxy(server(), "unused", "http://127.0.0.1:9")
      const { errors } = JSON.parse((await get(url, "/healthz-report")).body) as { errors: ReadonlyArray<string> }
      expect(errors).toHaveLength(1)
      const answer = await get(url, "/@a/b/apps/c/")
      expect([answer.status, answer.headers["retry-after"]]).toStrictEqual([502, "5"])
    })
  },
  { options: { wildcardAccessUrl: "*.apps.test" } }
)
