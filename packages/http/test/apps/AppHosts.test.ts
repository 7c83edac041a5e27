import { PortShareRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { type IncomingMessage, request, type RequestListener } from "node:http"
import { expect, it } from "vitest"
import { anApp } from "../../../../test/resources.js"
import { type AgentServer, describeAgents } from "../agents/AgentServer.js"
import { link, webApp } from "../network/linkedAgents.js"

const echo: RequestListener = ({ headers, method, url }, response) => {
  response.setHeader("Set-Cookie", ["mine=1; Path=/", "far=2; Domain=apps.test; Secure", "service_session_token=stolen"])
  response.end(JSON.stringify({ method, url, headers }))
}

const get = (
  { url }: AgentServer,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path, headers: { host, ...headers } }, (response) => {
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
      expect(answer.headers["set-cookie"]).toStrictEqual(["mine=1; Path=/", "far=2; Secure"])
      expect(answer.headers["x-content-type-options"]).toBeUndefined()
      expect((await get(server(), `x---${host.toUpperCase()}:443`, "/")).status).toBe(200)
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
      expect(await statuses({})).toStrictEqual([404, 404, 200])
      expect(await statuses({ "service-session-token": member.token })).toStrictEqual([404, 200, 200])
      expect(await statuses({ "service-session-token": server().owner().token })).toStrictEqual([200, 200, 200])
    })

    it("may be a port, which its owner shares and stops to share", async () => {
      const port = await webApp(echo)
      const agent = await server().anAgent()
      await link(server(), agent)
      const host = `${port}--main--${agent.workspace.name}--${agent.owner.username}.apps.test`
      const share = { workspace_id: agent.workspace.id, agent_name: "main", port, share_level: "public", protocol: "http" } as const
      expect((await get(server(), host, "/")).status).toBe(404)
      expect((await get(server(), host, "/", { "service-session-token": server().owner().token })).status).toBe(200)
      await server().run(Effect.flatMap(PortShareRepository, ({ upsert }) => upsert(share)))
      expect((await get(server(), host, "/")).status).toBe(200)
      await server().run(Effect.flatMap(PortShareRepository, (shares) => shares.delete(share)))
      expect((await get(server(), host, "/")).status).toBe(404)
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
