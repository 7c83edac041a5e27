import type { ProvisionedApp } from "@atelier/core/provisioning"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { EventEmitter, once } from "node:events"
import { Agent, createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { connect, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { certificate } from "../../../../test/outside/mailServer.js"
import { anApp } from "../../../../test/records/resources.js"
import { type AgentServer, describeAgentInterface, describeAgents, type RunningAgent } from "../agents/AgentServer.js"
import { link, listening, program, webApp } from "../network/linkedAgents.js"
import { exchangeBytes, hidden, misleadingHeads, notingApp } from "./rawRequests.js"

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Sends a request whose path and headers nothing changes. */
const send = (
  { url }: AgentServer,
  path: string,
  {
    agent,
    body,
    headers = {},
    method = "GET"
  }: { method?: string; headers?: Record<string, string | Array<string>>; body?: string | Buffer; agent?: Agent } = {}
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path, method, agent, headers: { host: "atelier.test", ...headers } }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() })
      )
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(body)
  })

/** An app that answers with the request it got. */
const echo: RequestListener = (incoming, response) => {
  const chunks: Array<Buffer> = []
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => {
    const body = Buffer.concat(chunks)
    const { method, rawHeaders, url } = incoming
    response.end(JSON.stringify({ method, url, rawHeaders, length: body.length, hash: createHash("sha256").update(body).digest("hex") }))
  })
}

interface Echo {
  readonly method: string
  readonly url: string
  readonly rawHeaders: ReadonlyArray<string>
  readonly length: number
  readonly hash: string
}

const echoed = ({ body }: Answer): Echo => JSON.parse(body) as Echo

const headersOf = ({ rawHeaders }: Echo, name: string): ReadonlyArray<string> =>
  rawHeaders.flatMap((key, index) => (index % 2 === 0 && key.toLowerCase() === name ? [rawHeaders[index + 1] ?? ""] : []))

/** A running workspace whose linked agent has one app. */
const anAppAt = async (server: AgentServer, url: string, app: Partial<ProvisionedApp> = {}) => {
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url, ...app })] })
  const connection = await link(server, agent)
  const base = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web`
  return { agent, base, connection }
}

const asOwner = (server: AgentServer) => ({ cookie: `service_session_token=${server.owner().token}` })

const aStop = (server: AgentServer, agent: RunningAgent) => server.store(aBuild(agent, { transition: "stop", resources: [] }))

describeAgents("an app on a path", (server) => {
  it("gets a request with its body, and its answer comes back", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const body = Buffer.alloc(300_000, "atelier")
    const answer = await send(server(), `${base}/a%2Fb/../c?x=1&y=%20`, { method: "PUT", headers: asOwner(server()), body })
    expect(answer.status).toBe(200)
    expect(echoed(answer)).toMatchObject({
      method: "PUT",
      url: "/a%2Fb/../c?x=1&y=%20",
      length: body.length,
      hash: createHash("sha256").update(body).digest("hex")
    })
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-service-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/)
    })
  })

  it("is counted in the metrics, and not as a request under way", async () => {
    const asked = new EventEmitter()
    const port = await webApp((incoming, response) => void (incoming.url === "/never" ? asked.emit("never") : echo(incoming, response)))
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const series = async (name: string): Promise<number> => {
      const { body } = await send(server(), "/api/v2/debug/metrics", { headers: asOwner(server()) })
      return Number(
        body
          .split("\n")
          .find((line) => line.startsWith(`serviced_${name}`) && line.includes('path="/@{user}/{workspace}/apps/{app}"'))
          ?.split(" ")[1] ?? 0
      )
    }
    const processed = 'api_requests_processed_total{code="200",method="GET"'
    const before = await series(processed)
    // The admission of the later ones is kept
    for (let count = 0; count < 3; count++) expect((await send(server(), `${base}/`, { headers: asOwner(server()) })).status).toBe(200)
    expect(await series(processed)).toBe(before + 3)
    const leaving = new AbortController()
    const isAsked = once(asked, "never")
    const left = fetch(`${server().url}${base}/never`, { headers: asOwner(server()), signal: leaving.signal })
    await isAsked
    leaving.abort()
    await expect(left).rejects.toThrow()
    await expect.poll(() => series('api_concurrent_requests{method="GET"')).toBe(0)
  })

  it("gets a body in chunks, and a list of cookies goes back", async () => {
    const port = await webApp((incoming, response) => {
      response.setHeader("Set-Cookie", ["one=1", "two=2; Path=/", "service_session_token=stolen; Path=/", "far=3; Domain=atelier.test"])
      response.setHeader("Service-Worker-Allowed", "/")
      response.setHeader("Report-To", '{"group":"a","max_age":60,"endpoints":[{"url":"https://evil.example"}]}')
      response.setHeader("NEL", '{"report_to":"a","max_age":60,"success_fraction":1}')
      response.setHeader("Alt-Svc", 'h3="evil.example:443"')
      response.setHeader("X-Twice", ["a", "b"])
      echo(incoming, response)
    })
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const headers = { ...asOwner(server()), "transfer-encoding": "chunked" }
    const answer = await send(server(), `${base}/`, { method: "POST", headers, body: "hello" })
    expect(echoed(answer)).toMatchObject({ length: 5 })
    const cookies = answer.headers["set-cookie"]?.filter((cookie) => !cookie.startsWith("service_signed_app_token="))
    expect(cookies).toStrictEqual([`one=1; Path=${base}/`, `two=2; Path=${base}/`, `far=3; Path=${base}/`])
    expect(answer.headers["x-twice"]).toBe("a, b")
    const ofHost = ["service-worker-allowed", "report-to", "nel", "alt-svc"].map((name) => answer.headers[name])
    expect(ofHost).toStrictEqual([undefined, undefined, undefined, undefined])
  })

  it("answers on connections that are kept, as long as it keeps them", async () => {
    let connections = 0
    const warnings: Array<Error> = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on("warning", warn)
    onTestFinished(() => void process.off("warning", warn))
    const listener = createServer((_, response) => void response.end("page")).on("connection", () => connections++)
    const { base } = await anAppAt(server(), `http://localhost:${await listening(listener)}`)
    const ask = async (method = "GET") => (await send(server(), `${base}/`, { method, headers: asOwner(server()) })).status
    for (let count = 0; count < 15; count++) expect(await ask()).toBe(200)
    expect(connections).toBe(1)
    expect(await ask("POST")).toBe(200)
    expect(connections).toBe(2)
    listener.closeIdleConnections()
    expect(await ask()).toBe(200)
    // Node tells of listeners that pile up
    expect(warnings).toStrictEqual([])
  })

  it("is heard to the end of each form of an answer on one connection", async () => {
    let connections = 0
    const bytes = randomBytes(700_000)
    const forms: Record<string, RequestListener> = {
      "/none": (_, response) => void response.writeHead(204).end(),
      "/same": (_, response) => void response.writeHead(304, { etag: '"x"' }).end(),
      "/length": (_, response) => void response.writeHead(200, { "content-length": bytes.length }).end(bytes),
      "/chunks": (_, response) => {
        for (let at = 0; at < bytes.length; at += 99_991) response.write(bytes.subarray(at, at + 99_991))
        response.end()
      }
    }
    const listener = createServer((incoming, response) => forms[incoming.url ?? ""]?.(incoming, response)).on(
      "connection",
      () => connections++
    )
    const { base } = await anAppAt(server(), `http://localhost:${await listening(listener)}`)
    const hashOf = (body: Buffer): string => createHash("sha256").update(body).digest("hex")
    const ask = async (path: string, method = "GET") => {
      const answer = await fetch(`${server().url}${base}${path}`, { method, headers: asOwner(server()) })
      return [answer.status, hashOf(Buffer.from(await answer.arrayBuffer()))]
    }
    const [whole, nothing] = [hashOf(bytes), hashOf(Buffer.alloc(0))]
    for (let round = 0; round < 2; round++) {
      expect(await ask("/length", "HEAD")).toStrictEqual([200, nothing])
      expect(await ask("/none")).toStrictEqual([204, nothing])
      expect(await ask("/length")).toStrictEqual([200, whole])
      expect(await ask("/same")).toStrictEqual([304, nothing])
      expect(await ask("/chunks")).toStrictEqual([200, whole])
    }
    expect(connections).toBe(1)
  })

  it("that repeats its head has each answer carry the id of its request, and the cookies of its caller alone", async () => {
    const head = "HTTP/1.1 200 OK\r\nDate: Sat, 28 Nov 2026 00:00:00 GMT\r\nContent-Length: 4\r\nSet-Cookie: own=1\r\n\r\n"
    const port = await program((socket) => void socket.on("data", () => socket.write(`${head}good`)))
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const ask = async (cookie: string) => {
      const { body, headers } = await send(server(), `${base}/`, { headers: { cookie } })
      const names = (headers["set-cookie"] ?? []).map((given) => given.split("=", 1)[0])
      return { body, names, set: headers["set-cookie"], id: headers["x-service-request-id"] }
    }
    const { cookie } = asOwner(server())
    const [, token = ""] = (await ask(cookie)).set ?? []
    const asked: Array<Awaited<ReturnType<typeof ask>>> = []
    for (const brought of [cookie, cookie, `${cookie}; ${token.split(";", 1)[0]}`]) {
      for (let count = 0; count < 4; count++) asked.push(await ask(brought))
    }
    const [name] = token.split("=", 1)
    expect(asked.map(({ body, names }) => [body, ...names])).toStrictEqual([
      ...Array.from({ length: 8 }, () => ["good", "own", name]),
      ...Array.from({ length: 4 }, () => ["good", "own"])
    ])
    expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length)
  })

  it("that closes a kept connection under a request gets it again, and none that may not be repeated", async () => {
    const seen: Array<string> = []
    const port = await program((socket) => {
      let requests = 0
      socket.on("data", (head) => {
        seen.push(head.toString().split(" ", 1)[0] ?? "")
        requests += 1
        if (requests > 1) socket.destroy()
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
      })
    })
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const ask = async (method = "GET") => (await send(server(), `${base}/`, { method, headers: asOwner(server()) })).body
    expect([await ask(), await ask()]).toStrictEqual(["good", "good"])
    expect(seen).toStrictEqual(["GET", "GET", "GET"])
    expect(await ask("POST")).toBe("good")
    expect(seen.filter((method) => method === "POST").length).toBe(1)
  })

  it("is told by a client that waits for leave when to go on", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const { hostname, port: own } = new URL(server().url)
    const headers = { host: "atelier.test", ...asOwner(server()), expect: "100-continue", "content-length": 5 }
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = request({ hostname, port: own, path: `${base}/`, method: "PUT", headers }, (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => (text += chunk.toString()))
        response.on("end", () => resolve(text))
      })
      sent.on("continue", () => sent.end("hello"))
      sent.on("error", reject)
      sent.flushHeaders()
    })
    expect(echoed({ status: 200, headers: {}, body: answer })).toMatchObject({ method: "PUT", length: 5 })
    expect(headersOf(JSON.parse(answer) as Echo, "expect")).toStrictEqual([])
  })

  it("is not heard on a connection without a request", async () => {
    const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const sockets: Array<Socket> = []
    const port = await program((socket) => {
      sockets.push(socket)
      socket.on("data", () => socket.write(answer("good")))
    })
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const ask = async () => (await send(server(), `${base}/`, { headers: asOwner(server()) })).body
    expect(await ask()).toBe("good")
    const [first] = sockets
    const ended = new Promise((resolve) => first?.once("end", resolve))
    first?.write(answer("evil"))
    await ended
    expect([await ask(), sockets.length]).toStrictEqual(["good", 2])
  })

  it("sets no cookie for the host by a semicolon in its address", async () => {
    const port = await webApp((_, response) => void response.setHeader("Set-Cookie", "one=1; Path=/").end())
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const address = base.replace(".main/", ".main;Domain=test/")
    const answer = await send(server(), `${address}/`, { headers: asOwner(server()) })
    expect(answer.status).toBe(200)
    const attributes = answer.headers["set-cookie"]?.map((cookie) => cookie.match(/(?:Path|Domain)=[^;]*/g))
    const own = `Path=${address.replaceAll(";", "%3B")}/`
    expect(attributes).toStrictEqual([[own], [own]])
  })

  it("sets no cookie of the service's by one without a name", async () => {
    const given = ["=service_session_token=stolen", " = =csrf_token=a; Path=/", "=mine=1", "plain"]
    const port = await webApp((_, response) => void response.setHeader("Set-Cookie", given).end())
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const answer = await send(server(), `${base}/`, { headers: asOwner(server()) })
    const pairs = answer.headers["set-cookie"]?.map((cookie) => cookie.split(";", 1)[0])
    expect(pairs?.filter((pair) => !pair?.startsWith("service_signed_app_token="))).toStrictEqual(["=mine=1", "plain"])
  })

  it("gets each of many requests with one head on a connection, and no caller counts for another one", async () => {
    const port = await webApp(echo)
    const other = await webApp((_, response) => void response.end("other"))
    const apps = [anApp({ slug: "web", url: `http://localhost:${port}` }), anApp({ slug: "web2", url: `http://localhost:${other}` })]
    const agent = await server().anAgent({ apps })
    await link(server(), agent)
    const base = `/@${agent.owner.username}/${agent.workspace.name}.main/apps`
    const kept = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => kept.destroy())
    const member = await server().aMember()
    const get = (path: string, token: string) =>
      send(server(), `${base}${path}`, { headers: { cookie: `service_session_token=${token}; own=1` }, agent: kept })
    const { token } = server().owner()
    const ids = new Set<unknown>()
    for (const path of ["/a", "/a", "/b?x=1", "/b?x=1&service_session_token=x", "/c%20/../d", "/a"]) {
      const answer = await get(`/web${path}`, token)
      const seen = echoed(answer)
      // A wrong credential in the query is not rescued by another one, but counts after a cookie
      expect([path, answer.status, seen.url, headersOf(seen, "cookie")]).toStrictEqual([
        path,
        200,
        path.replace("&service_session_token=x", ""),
        ["own=1"]
      ])
      ids.add(answer.headers["x-service-request-id"])
    }
    expect(ids.size).toBe(6)
    expect((await get("/web2/a", token)).body).toBe("other")
    expect((await get("/web/a", member.token)).status).toBe(404)
    expect(echoed(await get("/web/a", token)).url).toBe("/a")
  })

  it("sets each client the cookies alone that a host's middleware adds to its own answer", async () => {
    const port = await webApp((_, response) => {
      // Equal heads
      response.sendDate = false
      response.setHeader("Set-Cookie", ["one=1"]).end("page")
    })
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    let clients = 0
    const host = createServer((incoming, response) => {
      const { writeHead } = response
      // As common middleware does just before a head is sent
      response.writeHead = ((status: number, headers: Readonly<Record<string, string | Array<string>>>) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        response.appendHeader("Set-Cookie", `host=${++clients}`)
        return writeHead.call(response, status)
      }) as typeof writeHead
      server().atelier.handler(incoming, response)
    })
    const behind = { ...server(), url: `http://localhost:${await listening(host)}` }
    const { cookie } = asOwner(server())
    const cookiesOf = async (sent: string): Promise<ReadonlyArray<string>> =>
      ((await send(behind, `${base}/`, { headers: { cookie: sent } })).headers["set-cookie"] ?? []).map((set) => set.split(";", 1)[0] ?? "")
    const token = (await cookiesOf(cookie)).find((pair) => pair.startsWith("service_signed_app_token="))
    const given: Array<unknown> = []
    for (let request = 0; request < 4; request++) given.push(await cookiesOf(`${cookie}; ${token}`))
    expect(given).toStrictEqual([2, 3, 4, 5].map((client) => ["one=1", `host=${client}`]))
  })

  it("gets no token that is bound to a key, and no proof of the key", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const { token } = await server().aMember()
    const headers = { ...asOwner(server()), dpop: "a.proof.b" }
    const ours = echoed(await send(server(), `${base}/`, { headers: { ...headers, authorization: `DPoP ${token}` } }))
    expect([headersOf(ours, "authorization"), headersOf(ours, "dpop")]).toStrictEqual([[], []])
    const own = echoed(await send(server(), `${base}/`, { headers: { ...headers, authorization: "DPoP the-apps-own" } }))
    expect([headersOf(own, "authorization"), headersOf(own, "dpop")]).toStrictEqual([["DPoP the-apps-own"], ["a.proof.b"]])
  })

  it("gets no credential of the service, and learns who asks from the service", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const { token } = server().owner()
    const answer = await send(server(), `${base}/?a=1&service_session_token=${token}&access_token=${token}&b=2`, {
      headers: {
        cookie: `mine=1; service_session_token=${token}; csrf_token=abc; service_subdomain_app_session_token_ab=x; __Host-oauth_state=y; also=2`,
        authorization: `Bearer ${token}`,
        "service-session-token": token,
        "x-forwarded-for": "6.6.6.6",
        "x-forwarded-host": "evil.example",
        forwarded: "for=6.6.6.6",
        connection: "close, x-private",
        "x-private": "1",
        "x-case": "Kept"
      }
    })
    const seen = echoed(answer)
    expect(seen.url).toBe("/?a=1&b=2")
    expect(JSON.stringify(seen)).not.toContain(token)
    expect(headersOf(seen, "cookie")).toStrictEqual(["mine=1; also=2"])
    expect(headersOf(seen, "host")).toStrictEqual(["atelier.test"])
    expect(headersOf(seen, "x-forwarded-for")).toStrictEqual(["127.0.0.1"])
    expect(headersOf(seen, "x-forwarded-host")).toStrictEqual(["atelier.test"])
    expect(headersOf(seen, "x-forwarded-proto")).toStrictEqual(["http"])
    expect([headersOf(seen, "forwarded"), headersOf(seen, "x-private"), headersOf(seen, "x-case")]).toStrictEqual([[], [], ["Kept"]])
  })

  it("keeps a bearer token that is not the service's", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const answer = await send(server(), `${base}/`, { headers: { ...asOwner(server()), authorization: "Bearer the-apps-own" } })
    expect(headersOf(echoed(answer), "authorization")).toStrictEqual(["Bearer the-apps-own"])
  })

  it("is served below the path and the query of its address", async () => {
    const port = await webApp(echo)
    const { base } = await anAppAt(server(), `http://localhost:${port}/root/?folder=a`)
    const headers = asOwner(server())
    const slash = await send(server(), `${base}?x=1`, { headers })
    expect([slash.status, slash.headers.location]).toStrictEqual([307, `${base}/?x=1`])
    const query = await send(server(), `${base}/`, { headers })
    expect([query.status, query.headers.location]).toStrictEqual([307, `${base}/?folder=a`])
    expect(echoed(await send(server(), `${base}/b?folder=a`, { headers })).url).toBe("/root/b?folder=a")
  })

  it("is the workspace owner's alone, and others see nothing", async () => {
    const port = await webApp(echo)
    const member = await server().aMember()
    const agent = await server().anAgent(
      { apps: [anApp({ slug: "web", url: `http://localhost:${port}`, sharing_level: "public" })] },
      member
    )
    await link(server(), agent)
    const base = `/@${member.user.username}/${agent.workspace.name}/apps/web/`
    const status = async (token: string, path = base) =>
      (await send(server(), path, { headers: { "service-session-token": token } })).status
    expect(await status(member.token)).toBe(200)
    expect(await status(server().owner().token)).toBe(404)
    expect(await status(member.token, base.replace("@", "%40"))).toBe(200)
    expect(await status(member.token, base.replace("web", "other"))).toBe(404)
    expect(await status(member.token, base.replace(agent.workspace.name, "nothing"))).toBe(404)
    expect(await status(member.token, `/@me/${agent.workspace.name}/apps/web/`)).toBe(404)
    expect(await status(member.token, base.replace("web", String(port)))).toBe(400)
  })

  it("sends a caller without a session to sign in", async () => {
    const { base } = await anAppAt(server(), "http://localhost:8080")
    const answer = await send(server(), `${base}/a?b=c`)
    expect(answer.status).toBe(303)
    const location = new URL(answer.headers.location ?? "", "http://atelier.test")
    expect([location.pathname, location.searchParams.get("redirect")]).toStrictEqual(["/login", `${base}/a?b=c`])
    const wrong = await send(server(), `${base}/`, {
      headers: { ...asOwner(server()), cookie: `service_path_app_session_token=wrong; ${asOwner(server()).cookie}` }
    })
    expect(wrong.status).toBe(303)
  })

  it("looks like an app that does not exist to callers without a right to it", async () => {
    const { agent, base } = await anAppAt(server(), "http://localhost:8080")
    const stopped = await server().anAgent()
    await aStop(server(), stopped)
    const addresses = [
      base,
      base.replace("web", "other"),
      `/@owner/${stopped.workspace.name}/apps/web`,
      `/@owner/nothing/apps/web`,
      `/@nobody/${agent.workspace.name}/apps/web`
    ]
    const { token } = await server().aMember()
    for (const [headers, status] of [
      [{}, 303],
      [{ "service-session-token": token }, 404]
    ] as const) {
      const answers = await Promise.all(
        addresses.map(async (address) => {
          const { body, headers: said, status } = await send(server(), `${address}/`, { headers })
          return { status, body, location: said.location?.replace(encodeURIComponent(address), "ADDRESS") }
        })
      )
      expect(answers.map((answer) => answer.status)).toStrictEqual(addresses.map(() => status))
      for (const answer of answers) expect(answer).toStrictEqual(answers[0])
    }
  })

  it("has a page in its place while its workspace or its agent is away", async () => {
    const { agent, base, connection } = await anAppAt(server(), "http://localhost:8080")
    const page = async () => {
      const { body, headers, status } = await send(server(), `${base}/`, { headers: asOwner(server()) })
      expect(headers["content-type"]).toBe("text/html; charset=utf-8")
      return [status, /<h1>(.*)<\/h1>/.exec(body)?.[1]]
    }
    await connection.close()
    await expect.poll(page).toStrictEqual([404, "Application unavailable"])
    await aStop(server(), agent)
    expect(await page()).toStrictEqual([400, "Workspace offline"])
  })

  it("has a page in its place where it does not answer as HTTP demands", async () => {
    const page = async (url: string) => {
      const { base } = await anAppAt(server(), url)
      const { body, status } = await send(server(), `${base}/`, { headers: asOwner(server()) })
      return [status, /<p>(.*?)<\/p>/.exec(body)?.[1]]
    }
    const answering = (text: string) => program((socket) => void socket.once("data", () => socket.end(text)))
    expect(await page(`http://localhost:${await answering("garbage\r\n\r\n")}`)).toStrictEqual([502, "Its answer is not HTTP."])
    expect(await page(`http://localhost:${await answering(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}\r\n\r\n`)}`)).toStrictEqual([
      502,
      "The head of its answer is too large."
    ])
    expect(await page(`http://localhost:${await answering("")}`)).toStrictEqual([502, "It broke the connection off without an answer."])
    expect(await page(`https://localhost:${await answering("HTTP/1.1 200 OK\r\n\r\n")}`)).toStrictEqual([502, "It does not speak TLS."])
    expect(await page("http://localhost:8")).toStrictEqual([400, "The port must not be below 9."])
    expect(await page("ssh://localhost")).toStrictEqual([400, "The application has no http or https address."])
  })

  it("gets one request for each that is sent, whatever the client's Connection header names", async () => {
    const { port, seen } = await notingApp()
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    for (const bytes of misleadingHeads(`${base}/a`, `Host: atelier.test\r\nCookie: ${asOwner(server()).cookie}\r\n`)) {
      seen.length = 0
      expect(await exchangeBytes(server().url, bytes)).toMatch(/^HTTP\/1.1 200 /)
      expect([bytes.slice(0, 6), seen]).toStrictEqual([bytes.slice(0, 6), [`${bytes.split(" ")[0]} /a atelier.test ${hidden}`]])
    }
  })

  it("gets no body with a request for another protocol", async () => {
    const heads: Array<string> = []
    const port = await program((socket) =>
      socket.once("data", (bytes) => {
        heads.push(bytes.toString())
        socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
      })
    )
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    const headers = `Host: atelier.test\r\nCookie: ${asOwner(server()).cookie}\r\nConnection: Upgrade\r\nUpgrade: other\r\n`
    const bytes = `POST ${base}/a HTTP/1.1\r\n${headers}Content-Length: ${hidden.length}\r\n\r\n${hidden}`
    expect(await exchangeBytes(server().url, bytes)).toMatch(/^HTTP\/1.1 200 /)
    expect(heads.join("")).not.toMatch(/content-length: [1-9]|transfer-encoding|hidden/i)
  })

  it("talks over a WebSocket in both directions", async () => {
    const sockets = new WebSocketServer({ noServer: true })
    const app = createServer()
    app.on("upgrade", (incoming, socket, head) =>
      sockets.handleUpgrade(incoming, socket, head, (opened) =>
        opened.on("message", (data, isBinary) => opened.send(data, { binary: isBinary }))
      )
    )
    const { base } = await anAppAt(server(), `http://localhost:${await listening(app)}`)
    const socket = new WebSocket(`${server().url.replace("http", "ws")}${base}/ws`, ["chat"], { headers: asOwner(server()) })
    const got = new Promise((resolve, reject) => socket.on("message", (data) => resolve(String(data))).on("error", reject))
    socket.on("open", () => socket.send("x".repeat(100_000)))
    expect(await got).toBe("x".repeat(100_000))
    const code = new Promise((resolve) => socket.on("close", resolve))
    socket.close(1000)
    expect(await code).toBe(1000)
  })

  it("ends one connection alone when its TLS breaks right behind the upgrade", async () => {
    let hasUpgraded = false
    const secured = createTlsServer({ ...certificate, maxVersion: "TLSv1.2" }, (socket) => {
      socket.on("error", () => undefined)
      socket.once("data", () => {
        hasUpgraded = true
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
      })
    })
    const securedPort = await listening(secured)
    const forged = Buffer.concat([Buffer.from([0x17, 3, 3, 0, 32]), Buffer.alloc(32)])
    const port = await program((socket) => {
      const behind = connect(securedPort, "127.0.0.1").on("error", () => undefined)
      socket.pipe(behind)
      // One piece: the forged record is read in the same turn as the upgrade
      behind.on("data", (bytes: Buffer) => socket.write(hasUpgraded ? Buffer.concat([bytes, forged]) : bytes))
    })
    const { base } = await anAppAt(server(), `https://localhost:${port}`)
    const headers = `Host: atelier.test\r\nCookie: ${asOwner(server()).cookie}\r\nConnection: Upgrade\r\nUpgrade: other\r\n`
    // An error without a listener fails the whole run
    await exchangeBytes(server().url, `GET ${base}/a HTTP/1.1\r\n${headers}\r\n`)
    expect(hasUpgraded).toBe(true)
  })

  it("ends its streams with the right to them", async () => {
    const port = await webApp((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("data: 1\n\n")
    })
    const member = await server().aMember()
    const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${port}` })] }, member)
    await link(server(), agent)
    const begun = async () => {
      const response = await fetch(`${server().url}/@${member.user.username}/${agent.workspace.name}/apps/web/`, {
        headers: { "service-session-token": member.token }
      })
      const reader = response.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n")
      return reader
    }
    // The right to the later ones has been judged with the first
    const readers = [await begun(), await begun(), await begun()]
    await server().call("POST", "/users/logout", { token: member.token })
    for (const reader of readers) await expect(reader?.read()).rejects.toThrow()
  })

  it("ends its upgraded connections with the right to them", async () => {
    const sockets = new WebSocketServer({ noServer: true })
    const app = createServer()
    const closed: Array<Promise<unknown>> = []
    app.on("upgrade", (incoming, socket, head) =>
      sockets.handleUpgrade(incoming, socket, head, (opened) => closed.push(new Promise((resolve) => opened.on("close", resolve))))
    )
    const member = await server().aMember()
    const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${await listening(app)}` })] }, member)
    await link(server(), agent)
    const address = `${server().url.replace("http", "ws")}/@${member.user.username}/${agent.workspace.name}/apps/web/ws`
    const socket = new WebSocket(address, { headers: { "service-session-token": member.token } })
    const ended = new Promise((resolve) => socket.on("close", resolve))
    await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject))
    await server().call("POST", "/users/logout", { token: member.token })
    expect(await ended).toBe(1006)
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
  })

  it("is opened by each user of the process with the user's own rights", async () => {
    const { base } = await anAppAt(server(), `http://localhost:${await webApp(echo)}`)
    const statusOf = async (user: string) => {
      const client = server().atelier.client({ user })
      return (await client.fetch(`${client.baseUrl}${base}/`, {})).status
    }
    const member = await server().aMember()
    expect(await statusOf(server().owner().user.username)).toBe(200)
    expect(await statusOf(member.user.username)).toBe(404)
  })

  it("shows the head of its answer before there is a body", async () => {
    const port = await webApp((_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders())
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    // The admission of the later one is kept
    for (let count = 0; count < 3; count++) {
      const leaving = new AbortController()
      const { status } = await fetch(`${server().url}${base}/`, { headers: asOwner(server()), signal: leaving.signal })
      expect(status).toBe(200)
      leaving.abort()
    }
  })

  it("may name its headers like properties of objects", async () => {
    const port = await program((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nConstructor: a\r\n__proto__: b\r\n__proto__: c\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    )
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    for (let count = 0; count < 2; count++) {
      const { headers } = await send(server(), `${base}/`, { headers: asOwner(server()) })
      expect(headers["constructor"]).toBe("a")
      expect(Object.keys(headers)).not.toContain("0")
    }
  })

  it("that a client leaves early stops, also a later one of the same client", async () => {
    const closed: Array<Promise<unknown>> = []
    const port = await webApp((_, response) => {
      closed.push(new Promise((resolve) => response.once("close", resolve)))
      response.write("begun")
    })
    const { base } = await anAppAt(server(), `http://localhost:${port}`)
    for (let count = 0; count < 3; count++) {
      const leaving = new AbortController()
      const { signal } = leaving
      const response = await fetch(`${server().url}${base}/`, { headers: asOwner(server()), signal })
      await response.body?.getReader().read()
      leaving.abort()
    }
    await Promise.all(closed)
    expect(closed.length).toBe(3)
  })
})

describeAgents(
  "the connection log of an app",
  (server) => {
    it("has one entry for each visitor and outcome", async () => {
      const port = await webApp(echo)
      const { agent, base } = await anAppAt(server(), `http://localhost:${port}`)
      const owner = server().owner()
      const member = await server().aMember()
      const visit = async (path: string, headers: Record<string, string>) => (await send(server(), path, { headers })).status
      expect(await visit(`${base}/`, asOwner(server()))).toBe(200)
      expect(await visit(`${base}/again`, asOwner(server()))).toBe(200)
      expect(await visit(`${base}/`, { "service-session-token": member.token })).toBe(404)
      expect(await visit(`${base}/`, {})).toBe(303)
      expect(await visit(base.replace("web", "other"), asOwner(server()))).toBe(404)
      const Logs = Schema.Struct({
        count: Schema.Number,
        connection_logs: Schema.Array(
          Schema.Struct({
            type: Schema.String,
            web_info: Schema.Struct({
              slug_or_port: Schema.String,
              status_code: Schema.Number,
              user: Schema.NullOr(Schema.Struct({ id: Schema.String }))
            })
          })
        )
      })
      const path = `/connectionlog?limit=10&offset=0&q=workspace_id:${agent.workspace.id}`
      const read = async () => (await server().call("GET", path, { token: owner.token })).as(Logs)
      await expect.poll(async () => (await read()).count).toBe(3)
      const entries = (await read()).connection_logs.map(({ type, web_info }) => [type, web_info.status_code, web_info.user?.id])
      expect(entries.toSorted(([, one], [, other]) => Number(one) - Number(other))).toStrictEqual([
        ["workspace_app", 200, owner.user.id],
        ["workspace_app", 303, undefined],
        ["workspace_app", 404, member.user.id]
      ])
    })

    it("has the terminal among the apps, also for those who may not open it", async () => {
      const agent = await server().anAgent()
      await link(server(), agent)
      const url = `${server().url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/pty?reconnect=${randomUUID()}`
      const stranger = await server().aMember()
      const refused = server().socket(`/workspaceagents/${agent.id}/pty?reconnect=${randomUUID()}`, stranger.token)
      expect((await refused.refused).status).toBe(404)
      const socket = new WebSocket(url, { headers: { "service-session-token": server().owner().token } })
      await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject))
      const path = `/connectionlog?limit=10&offset=0&q=workspace_id:${agent.workspace.id}`
      const Logs = Schema.Struct({ connection_logs: Schema.Array(Schema.Unknown) })
      const read = async () => (await server().call("GET", path, { token: server().owner().token })).as(Logs).connection_logs
      await expect.poll(read).toMatchObject([
        { type: "workspace_app", web_info: { slug_or_port: "terminal", status_code: 101, user: { id: server().owner().user.id } } },
        { type: "workspace_app", web_info: { slug_or_port: "terminal", status_code: 404, user: { id: stranger.user.id } } }
      ])
      socket.terminate()
    })
  },
  { entitlements: { has: () => true } }
)

describe("a deployment without apps on paths", () => {
  describeAgentInterface(
    "refuses them",
    (server) => {
      it("with a page", async () => {
        const { base } = await anAppAt(server(), "http://localhost:8080")
        expect((await send(server(), `${base}/`, { headers: asOwner(server()) })).status).toBe(403)
      })
    },
    { options: { disablePathApps: true } }
  )
})

describe("a deployment that shares apps on paths", () => {
  describeAgentInterface(
    "opens them",
    (server) => {
      it("and none leads to another by dots, slashes or hosts", async () => {
        const asked: Array<string | undefined> = []
        const secret = await webApp((incoming, response) => {
          asked.push(incoming.url)
          response.end("secret")
        })
        const shared = await webApp(echo)
        const agent = await server().anAgent({
          apps: [
            anApp({ slug: "shared", url: `http://localhost:${shared}`, sharing_level: "public" }),
            anApp({ slug: "secret", url: `http://localhost:${secret}`, sharing_level: "owner" })
          ]
        })
        await link(server(), agent)
        const base = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/shared`
        const climbs = ["/../secret/", "/%2e%2e/secret/", "/..%2fsecret/", "/..\\secret/", "//localhost/", `/@localhost:${secret}/`]
        for (const climb of climbs) {
          const answer = await send(server(), `${base}${climb}`)
          expect([climb, answer.status, echoed(answer).url]).toStrictEqual([climb, 200, climb])
        }
        for (const climb of ["%2f..%2fsecret/", "%00/"]) expect((await send(server(), `${base}${climb}`)).status).toBe(303)
        const host = `localhost:${secret}`
        const told = await send(server(), `${base}/`, { headers: { host, "x-forwarded-host": host } })
        expect([told.status, echoed(told).url]).toStrictEqual([200, "/"])
        expect(asked).toStrictEqual([])
      })

      it("and a token for a part of one opens no other part, also right after it", async () => {
        const port = await webApp(echo)
        const { base } = await anAppAt(server(), `http://localhost:${port}`, { sharing_level: "authenticated" })
        const { token } = await server().aMember()
        const audience = JSON.stringify([`http://atelier.test${base}/part`])
        await server().store(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`UPDATE api_keys SET audience = ${audience}, login_type = 'oauth2_provider_app' WHERE id = ${token.slice(0, 10)}`
          )
        )
        const statusOf = async (path: string) =>
          (await send(server(), `${base}/${path}`, { headers: { authorization: `Bearer ${token}` } })).status
        expect([await statusOf("other"), await statusOf("part"), await statusOf("other")]).toStrictEqual([303, 200, 303])
      })

      it("to those whom each level names", async () => {
        const port = await webApp(echo)
        const levels = ["owner", "organization", "authenticated", "public"] as const
        const agent = await server().anAgent({
          apps: levels.map((level) => anApp({ slug: level, url: `http://localhost:${port}`, sharing_level: level }))
        })
        await link(server(), agent)
        const member = await server().aMember()
        const body = { token_name: "limited", scopes: ["coder:apikeys.manage_self"] }
        const limited = await server().call("POST", "/users/me/keys/tokens", { token: member.token, body })
        const statusesOf = (headers: Record<string, string>) =>
          Promise.all(
            levels.map(
              async (level) =>
                (await send(server(), `/@${agent.owner.username}/${agent.workspace.name}/apps/${level}/`, { headers })).status
            )
          )
        const outsider = await server().aMember()
        await server().call("DELETE", `/organizations/${agent.organization.id}/members/${outsider.user.id}`, {
          token: server().owner().token
        })
        expect(await statusesOf({})).toStrictEqual([303, 303, 303, 200])
        expect(await statusesOf({ "service-session-token": member.token })).toStrictEqual([404, 200, 200, 200])
        expect(await statusesOf({ "service-session-token": outsider.token })).toStrictEqual([404, 404, 200, 200])
        const { key } = limited.as(Schema.Struct({ key: Schema.String }))
        expect(await statusesOf({ "service-session-token": key })).toStrictEqual([404, 404, 404, 200])
      })
    },
    { options: { dangerousAllowPathAppSharing: true } }
  )
})
