/** The deployment's report on its own health, and what its operators dismiss. deployment.md §9. */
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { Health } from "@atelier/core/insights"
import { Effect, Schema } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { once } from "node:events"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { freePort } from "../../../atelier/test/Server.js"
import { describeServer, startServer, type TestServer } from "../../../../test/http/server.js"

const Section = Schema.Struct({
  severity: Schema.String,
  healthy: Schema.Boolean,
  dismissed: Schema.Boolean,
  error: Schema.optional(Schema.String),
  warnings: Schema.Array(Schema.Struct({ code: Schema.String, message: Schema.String }))
})

const WorkspaceProxies = Schema.Struct({ regions: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })) })

const Report = Schema.Struct({
  time: Schema.String,
  severity: Schema.String,
  healthy: Schema.Boolean,
  access_url: Schema.extend(Section, Schema.Struct({ status_code: Schema.Number, healthz_response: Schema.String })),
  database: Schema.extend(Section, Schema.Struct({ reachable: Schema.Boolean, threshold_ms: Schema.Number })),
  derp: Section,
  provisioner_daemons: Schema.extend(
    Section,
    Schema.Struct({
      items: Schema.Array(Schema.Struct({ provisioner_daemon: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }))
    })
  ),
  websocket: Schema.extend(Section, Schema.Struct({ code: Schema.Number })),
  workspace_proxy: Schema.extend(Section, Schema.Struct({ workspace_proxies: WorkspaceProxies }))
})

const reportOf = async (server: TestServer, query = "?force=true") => {
  const answer = await server.call("GET", `/debug/health${query}`, { token: server.owner().token })
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
  return answer.as(Report)
}

const options = { options: { provisionerDaemons: 0 } }

describeServer(
  "the health report",
  (server) => {
    const get = (path: string) => server().call("GET", path, { token: server().owner().token })
    const dismiss = (dismissed_healthchecks: unknown) =>
      server().call("PUT", "/debug/health/settings", { token: server().owner().token, body: { dismissed_healthchecks } })

    it("finds what is wrong: nothing answers at the access URL, and no daemon runs", async () => {
      const report = await reportOf(server())
      expect(report).toMatchObject({
        healthy: false,
        severity: "error",
        database: { reachable: true, healthy: true, threshold_ms: 15 },
        provisioner_daemons: { severity: "error", error: "EPD01: No provisioner daemon was seen lately." },
        workspace_proxy: { severity: "ok" }
      })
      expect(report.access_url.error).toMatch(/^EACS03: /)
      expect(report.websocket.error).toMatch(/^EWS02: /)
    })

    it("shows proxies as their list does", async () => {
      const created = await server().call("POST", "/workspaceproxies", {
        token: server().owner().token,
        body: { name: "north", display_name: "North", icon: "/icon/n.svg" }
      })
      expect(created.status).toBe(201)
      const { regions } = (await reportOf(server())).workspace_proxy.workspace_proxies
      const [primary, ...others] = (await get("/workspaceproxies")).as(WorkspaceProxies).regions
      expect(regions.slice(1)).toEqual(others)
      expect(Object.keys(regions[0] ?? {})).toEqual(Object.keys(primary ?? {}))
      await server().call("DELETE", "/workspaceproxies/north", { token: server().owner().token })
    })

    it("is kept until it is asked for again", async () => {
      const first = await reportOf(server())
      server().advance("9 minutes")
      expect((await reportOf(server(), "")).time).toBe(first.time)
      server().advance("2 minutes")
      const second = await reportOf(server(), "?format=json")
      expect(second.time > first.time).toBe(true)
      expect((await reportOf(server())).time > second.time).toBe(true)
    })

    it("is made once for callers at the same time", async () => {
      const { user } = server().owner()
      const actor = sessionActor({ userId: user.id, siteRoles: user.rbac_roles, memberships: [] })
      const report = Effect.flatMap(Health, (health) => health.report(true, undefined))
      const reports = await server().run(
        Effect.provideService(Effect.all([report, report, report], { concurrency: "unbounded" }), CurrentActor, actor)
      )
      expect(new Set(reports.map(({ time }) => time)).size).toBe(1)
    })

    it("has lines as its text, and no other format", async () => {
      const text = await get("/debug/health?format=text")
      expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8")
      expect(text.text).toMatch(/^severity: error\nhealthy: false\naccess_url: error\n {2}EACS03: /)
      expect((await get("/debug/health?format=xml")).body).toMatchObject({ validations: [{ field: "format" }] })
    })

    it("is for owners alone, like its settings and the echo", async () => {
      const { token } = await server().aMember()
      for (const path of ["/debug/health", "/debug/health?format=xml", "/debug/health/settings", "/debug/ws"]) {
        expect([path, (await server().call("GET", path, { token })).status]).toEqual([path, 403])
      }
      expect((await server().call("PUT", "/debug/health/settings", { token, body: {} })).status).toBe(403)
      expect((await get("/debug/ws")).status).toBe(426)
    })

    it("shows which checks are dismissed, and the change is audited once", async () => {
      expect((await get("/debug/health/settings")).body).toEqual({ dismissed_healthchecks: [] })
      const changed = await dismiss(["Database", "DERP"])
      expect([changed.status, changed.body]).toEqual([200, { dismissed_healthchecks: ["Database", "DERP"] }])
      const again = await dismiss(["Database", "DERP"])
      expect([again.status, again.text]).toEqual([204, ""])
      expect(await reportOf(server(), "")).toMatchObject({
        database: { dismissed: true },
        derp: { dismissed: true },
        websocket: { dismissed: false }
      })
      const log = await get("/audit?q=resource_type:health_settings")
      expect(log.body).toMatchObject({
        count: 1,
        audit_logs: [{ action: "write", status_code: 200, diff: { dismissed_healthchecks: { new: ["Database", "DERP"], secret: false } } }]
      })
    })

    it("refuses to dismiss a check that does not exist", async () => {
      for (const name of ["database", "Nope", "", 1]) {
        const refused = await dismiss([name])
        expect([name, refused.status]).toEqual([name, 400])
      }
    })
  },
  options
)

describe("the health of a deployment at its own address", () => {
  let server: TestServer
  let front: ReturnType<typeof createServer>
  let status = 0

  beforeAll(async () => {
    const port = await freePort()
    server = await startServer(sqlite, { accessUrl: `http://127.0.0.1:${port}`, provisioner: testEngines })
    front = createServer((request: IncomingMessage, response) =>
      status === 0 ? server.atelier.handler(request, response) : response.writeHead(status).end("no")
    )
    front.on("upgrade", server.atelier.upgrade).listen(port, "127.0.0.1")
    await once(front, "listening")
  })

  afterAll(async () => {
    front.closeAllConnections()
    front.close()
    await server.close()
  })

  it("reaches the address, the relay, and itself by a WebSocket", async () => {
    expect(await reportOf(server)).toMatchObject({
      access_url: { severity: "ok", status_code: 200, healthz_response: "OK" },
      derp: { severity: "ok" },
      websocket: { severity: "ok", code: 101 }
    })
  })

  it("leaves key, status and jobs of daemons null", async () => {
    const firstDaemon = async () => (await reportOf(server)).provisioner_daemons.items[0]?.provisioner_daemon
    await expect.poll(firstDaemon).toMatchObject({ key_name: null, status: null, current_job: null, previous_job: null })
  })

  it("warns of an address that answers otherwise", async () => {
    status = 500
    const report = await reportOf(server)
    status = 0
    expect(report).toMatchObject({
      healthy: false,
      access_url: { severity: "warning", healthy: false, status_code: 500, warnings: [{ code: "EACS04" }] },
      derp: { severity: "error", healthy: false }
    })
  })
})
