import { once } from "node:events"
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { anApp } from "../../../../test/records/resources.js"
import { type AgentServer, describeAgents } from "../agents/AgentServer.js"
import { link, webApp } from "../network/linkedAgents.js"

const echo: RequestListener = ({ headers, method, url }, response) => {
  response.setHeader("Set-Cookie", ["mine=1; Path=/", "far=2; Domain=apps.test; Secure", "service_session_token=stolen"])
  response.end(JSON.stringify({ method, url, headers }))
}

const get = (
  { url }: Pick<AgentServer, "url">,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path, method, headers: { host, ...headers } }, (response) => {
      let body = ""
      response.on("data", (chunk) => (body += String(chunk)))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.on("error", reject)
    sent.end()
  })

describeAgents(
  "an app on a host of its own",
  (server) => {
    it("is found by its host, whatever path is asked for", async () => {
      const port = await webApp(echo)
      const agent = await server().anAgent({
        apps: [anApp({ slug: "web", url: `http://localhost:${port}/root`, sharing_level: "public" })]
      })
      await link(server(), agent)
      const host = `web--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const answer = await get(server(), host, "/api/v2/users/me?a=b")
      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.body)).toMatchObject({ url: "/root/api/v2/users/me?a=b", headers: { host, "x-forwarded-host": host } })
      expect(answer.headers["set-cookie"]?.slice(0, 2)).toStrictEqual(["mine=1; Path=/", "far=2; Secure"])
      expect(answer.headers["x-content-type-options"]).toBeUndefined()
      expect((await get(server(), `x---${host.toUpperCase()}:443`, "/")).status).toBe(200)
    })

    it("is found where the program that embeds the service has pages of its own", async () => {
      const host = createServer((incoming, outgoing) => server().atelier.handler(incoming, outgoing, () => outgoing.end("the program's")))
      await once(host.listen(0, "127.0.0.1"), "listening")
      const address = host.address()
      const url = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`
      const bodyAt = async (name: string) => (await get({ url }, name, "/main.js")).body
      expect(await bodyAt("atelier.test")).toBe("the program's")
      expect(await bodyAt("")).toBe("the program's")
      expect(await bodyAt("web--none--none.apps.test")).not.toBe("the program's")
      host.close()
    })

    it("is opened by those whom its level names", async () => {
      const port = await webApp(echo)
      const levels = ["owner", "authenticated", "public"] as const
      const agent = await server().anAgent({
        apps: levels.map((level) => anApp({ slug: level, url: `http://localhost:${port}`, sharing_level: level }))
      })
      await link(server(), agent)
      const member = await server().aMember()
      const statuses = (headers: Readonly<Record<string, string>>) =>
        Promise.all(
          levels.map(
            async (level) =>
              (await get(server(), `${level}--${agent.workspace.name}--${agent.owner.username}.apps.test`, "/", headers)).status
          )
        )
      expect(await statuses({})).toStrictEqual([303, 303, 200])
      const anonymous = await get(server(), `public--${agent.workspace.name}--${agent.owner.username}.apps.test`, "/")
      expect(anonymous.headers["set-cookie"]?.at(-1)).toMatch(
        /^service_signed_app_token=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/
      )
      expect(await statuses({ "service-session-token": member.token })).toStrictEqual([404, 200, 200])
      expect(await statuses({ "service-session-token": server().owner().token })).toStrictEqual([200, 200, 200])
    })

    it("is not opened with a token for a part of the deployment that has the app's path", async () => {
      const port = await webApp(echo)
      const agent = await server().anAgent({
        apps: [anApp({ slug: "web", url: `http://localhost:${port}`, sharing_level: "authenticated" })]
      })
      await link(server(), agent)
      const host = `web--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const statusFor = async (resource: string) => {
        const { token } = await server().aMember()
        const audience = JSON.stringify([resource])
        await server().store(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE api_keys SET audience = ${audience} WHERE id = ${token.slice(0, 10)}`)
        )
        return (await get(server(), host, "/part", { authorization: `Bearer ${token}` })).status
      }
      expect([await statusFor("http://atelier.test"), await statusFor("http://atelier.test/part")]).toStrictEqual([200, 303])
    })

    it("looks like an app that does not exist to callers without a right to it", async () => {
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: "http://localhost:8080" })] })
      const stopped = await server().anAgent()
      await server().store(aBuild(stopped, { transition: "stop", resources: [] }))
      const own = await server().anAgent()
      const passing = { cors_behavior: "passthru" }
      await server().call("PATCH", `/templates/${own.workspace.template_id}`, { token: server().owner().token, body: passing })
      const { username } = agent.owner
      const hosts = [
        `web--${agent.workspace.name}--${username}`,
        `other--${agent.workspace.name}--${username}`,
        `web--${stopped.workspace.name}--${username}`,
        `web--${own.workspace.name}--${username}`,
        `8080--main--${own.workspace.name}--${username}`,
        `web--nothing--${username}`
      ].map((name) => `${name}.apps.test`)
      const preflight = { origin: `http://x--y--${username}.apps.test`, "access-control-request-method": "PUT" }
      const { token } = await server().aMember()
      for (const [method, headers, status] of [
        ["GET", {}, 303],
        ["GET", { "service-session-token": token }, 404],
        ["OPTIONS", preflight, 200]
      ] as const) {
        const answers = await Promise.all(
          hosts.map(async (host) => {
            const answer = await get(server(), host, "/", headers, method)
            const { date: _, "set-cookie": __, "x-service-request-id": ___, location, ...rest } = answer.headers
            return { status: answer.status, body: answer.body, rest, location: location?.replace(host, "HOST") }
          })
        )
        expect(answers.map((answer) => answer.status)).toStrictEqual(hosts.map(() => status))
        for (const answer of answers) expect(answer).toStrictEqual(answers[0])
      }
    })

    it("may be a port, which its owner shares and stops to share", async () => {
      const port = await webApp((request, response) => {
        if (request.url !== "/endless") return echo(request, response)
        response.write("going on")
      })
      const agent = await server().anAgent()
      await link(server(), agent)
      const host = `${port}--main--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const shares = `/workspaces/${agent.workspace.id}/port-share`
      const share = { agent_name: "main", port, share_level: "public", protocol: "http" }
      const { token } = server().owner()
      expect((await get(server(), host, "/")).status).toBe(303)
      expect((await get(server(), host, "/", { "service-session-token": server().owner().token })).status).toBe(200)
      await server().call("POST", shares, { token, body: share })
      expect((await get(server(), host, "/")).status).toBe(200)
      const ended = new Promise<string | undefined>((resolve) => {
        const { hostname, port: at } = new URL(server().url)
        request({ hostname, port: at, path: "/endless", headers: { host } }, (response) => {
          response.on("error", ({ message }) => resolve(message))
          response.once("data", () => void server().call("DELETE", shares, { token, body: { agent_name: "main", port } }))
        }).end()
      })
      // A visitor without an account, whom no change of a user concerns
      expect(await ended).toBe("aborted")
      expect((await get(server(), host, "/")).status).toBe(303)
    })

    it("is opened in a browser that is signed in to the service, until it logs out", async () => {
      const port = await webApp(echo)
      const member = await server().aMember()
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${port}` })] }, member)
      await link(server(), agent)
      const host = `web--${agent.workspace.name}--${member.user.username}.apps.test`
      const signedIn = { cookie: `service_session_token=${member.token}` }

      const first = await get(server(), host, "/a?b=c%20d")
      expect([first.status, first.headers.location]).toStrictEqual([
        303,
        `http://atelier.test/api/v2/applications/auth-redirect?redirect_uri=${encodeURIComponent(`http://${host}/a?b=c%20d`)}`
      ])
      const redirect = new URL(first.headers.location ?? "")
      const path = `${redirect.pathname}${redirect.search}`
      const anonymous = await get(server(), "atelier.test", path)
      const login = new URL(anonymous.headers.location ?? "", "http://atelier.test")
      expect([anonymous.status, login.pathname, login.searchParams.get("redirect")]).toStrictEqual([303, "/login", path])

      const back = await get(server(), "atelier.test", path, signedIn)
      expect(back.status).toBe(307)
      const handed = new URL(back.headers.location ?? "")
      expect([handed.host, handed.pathname, handed.searchParams.get("b")]).toStrictEqual([host, "/a", "c d"])
      const begun = await get(server(), host, `${handed.pathname}${handed.search}`)
      expect([begun.status, begun.headers.location]).toStrictEqual([303, "/a?b=c+d"])
      const cookie = begun.headers["set-cookie"]?.find((line) => line.startsWith("service_subdomain_app_session_token=")) ?? ""
      expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/)
      const session = { cookie: cookie.split(";", 1)[0] ?? "" }

      const answer = await get(server(), host, "/a", session)
      expect([answer.status, answer.body.includes("app_session_token")]).toStrictEqual([200, false])
      const key = session.cookie.split("=")[1] ?? ""
      const beyond = await server().call("GET", "/users/me/keys/tokens", { token: key })
      expect(beyond.status).toBeGreaterThanOrEqual(400)
      await server().call("POST", "/users/logout", { token: member.token })
      expect((await get(server(), host, "/a", session)).status).toBe(303)

      const elsewhere = await get(
        server(),
        `other--${agent.workspace.name}--${member.user.username}.apps.test`,
        handed.search ? `/a${handed.search}` : ""
      )
      expect(elsewhere.status).toBe(400)
    })

    it("gets no session late, nor with a text that the service has not made", async () => {
      const agent = await server().anAgent()
      const host = `web--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const token = { "service-session-token": server().owner().token }
      const handed = await get(
        server(),
        "atelier.test",
        `/api/v2/applications/auth-redirect?redirect_uri=${encodeURIComponent(`http://${host}/`)}`,
        token
      )
      const { search } = new URL(handed.headers.location ?? "")
      expect((await get(server(), host, `/${search}x`)).status).toBe(400)
      expect((await get(server(), host, "/?service_application_connect_api_key_35e783=nothing")).status).toBe(400)
      server().advance("61 seconds")
      expect((await get(server(), host, `/${search}`)).status).toBe(400)
    })

    it("is the only target that a browser is sent to with a session", async () => {
      const token = { "service-session-token": server().owner().token }
      const status = async (uri: string) =>
        (await get(server(), "atelier.test", `/api/v2/applications/auth-redirect?redirect_uri=${encodeURIComponent(uri)}`, token)).status
      const wrong = [
        "",
        "nothing",
        "http://atelier.test/",
        "http://evil.example/",
        "http://nothing.apps.test/",
        "ftp://web--a--b.apps.test/"
      ]
      for (const uri of [...wrong, "http://me@web--a--b.apps.test/", "http://web--a--b.apps.test.evil.example/"]) {
        expect([uri, await status(uri)]).toStrictEqual([uri, 400])
      }
      const other = await get(
        server(),
        "atelier.test",
        `/api/v2/applications/auth-redirect?redirect_uri=${encodeURIComponent("https://web--a--b.apps.test:9999/")}`,
        token
      )
      expect(other.headers.location).toMatch(/^http:\/\/web--a--b\.apps\.test\/\?/)
    })

    it("is read by scripts of the same user's apps alone", async () => {
      const asked: Array<string | undefined> = []
      const port = await webApp(({ method }, response) => {
        asked.push(method)
        response.setHeader("Access-Control-Allow-Origin", "*")
        response.setHeader("Vary", "Accept-Encoding")
        response.end()
      })
      const agent = await server().anAgent({
        apps: [
          anApp({ slug: "open", url: `http://localhost:${port}`, sharing_level: "public" }),
          anApp({ slug: "closed", url: `http://localhost:${port}` })
        ]
      })
      await link(server(), agent)
      const hostOf = (slug: string, user: string) => `${slug}--${agent.workspace.name}--${user}.apps.test`
      const open = hostOf("open", agent.owner.username)
      const closed = hostOf("closed", agent.owner.username)
      const cors = async (host: string, origin: string, preflight: string | undefined) => {
        const asking = preflight === undefined ? {} : { "access-control-request-method": preflight }
        const headers = { origin, ...asking, "access-control-request-headers": "X-One" }
        const answer = await get(server(), host, "/", headers, preflight === undefined ? "GET" : "OPTIONS")
        const said = Object.entries(answer.headers).filter(([name]) => name.startsWith("access-control-") || name === "vary")
        return [answer.status, Object.fromEntries(said)]
      }
      const friend = `https://${closed}`
      const leave = { "access-control-allow-origin": friend, "access-control-allow-credentials": "true" }
      const vary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
      const granted = { ...leave, "access-control-allow-methods": "PUT", "access-control-allow-headers": "X-One", vary }
      expect(await cors(open, friend, "PUT")).toStrictEqual([200, granted])
      expect(await cors(closed, friend, "PUT")).toStrictEqual([200, granted])
      expect(await cors(open, friend, "TRACE")).toStrictEqual([200, { vary }])
      expect(await cors(open, friend, undefined)).toStrictEqual([200, { ...leave, vary: "Accept-Encoding, Origin" }])
      const strangers = [
        `https://${hostOf("open", "mallory")}`,
        `https://${closed}.evil.example`,
        `https://${closed}/path`,
        "http://atelier.test",
        "null"
      ]
      for (const stranger of strangers) {
        expect(await cors(open, stranger, "PUT")).toStrictEqual([200, { vary }])
        expect((await cors(closed, stranger, "PUT"))[0]).toBe(303)
        expect(await cors(open, stranger, undefined)).toStrictEqual([200, { vary: "Accept-Encoding, Origin" }])
      }
      expect(new Set(asked)).toStrictEqual(new Set(["GET"]))
    })

    it("decides about other origins itself where its template says so", async () => {
      const port = await webApp(({ method }, response) => {
        response.setHeader("Access-Control-Allow-Origin", `of ${method ?? ""}`)
        response.end()
      })
      const agent = await server().anAgent(
        { apps: [anApp({ slug: "web", url: `http://localhost:${port}`, sharing_level: "public" })] },
        undefined,
        { template: { cors_behavior: "passthru" } }
      )
      await link(server(), agent)
      const host = `web--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const headers = { origin: `https://${host}`, "access-control-request-method": "PUT" }
      for (const method of ["OPTIONS", "GET"]) {
        const answer = await get(server(), host, "/", headers, method)
        expect(answer.headers["access-control-allow-origin"]).toBe(`of ${method}`)
      }
    })

    it("has a page in its place where the host names none", async () => {
      for (const host of ["8080--dev--bob.apps.test", "nothing.apps.test"]) {
        const answer = await get(server(), host, "/")
        expect([answer.status, answer.headers["content-type"]]).toStrictEqual([400, "text/html; charset=utf-8"])
      }
    })

    it("takes no request from the service's own hosts", async () => {
      for (const host of ["atelier.test", "code--dev--bob.apps.test.evil.example", "a.b.apps.test", "apps.test"]) {
        expect((await get(server(), host, "/api/v2/buildinfo")).status).toBe(200)
      }
    })
  },
  { options: { wildcardAccessUrl: "*.apps.test" } }
)
