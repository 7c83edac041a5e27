import { Effect, Schema, Tracer } from "effect"
import { expect, it } from "vitest"
import { describeInterface, startServer } from "../../../../test/http/server.js"
import { sqlite, sqliteIn } from "../../../../test/store/databases.js"
import { BuildInfo, HealthDetails } from "../../src/contract/deployment/deployment.js"

const silent = Effect.runSync(Effect.tracer)

describeInterface("the general routes", (server) => {
  it("greet, with and without a slash", async () => {
    for (const path of ["//api/v2", "//api/v2/"]) {
      const { body, status } = await server().call("GET", path)
      expect([status, body]).toEqual([200, { message: expect.stringMatching(/./) }])
    }
  })

  it("report the running version, the same to every caller", async () => {
    const answer = await server().call("GET", "/buildinfo")
    const info = answer.as(BuildInfo)
    expect(info).toEqual({
      version: expect.stringMatching(/^v\d+\.\d+\.\d+/),
      external_url: expect.stringMatching(/^https:/),
      dashboard_url: "http://atelier.test",
      telemetry: false,
      workspace_proxy: false,
      agent_api_version: "1.0",
      provisioner_api_version: expect.stringMatching(/^\d+\.\d+$/),
      upgrade_message: "",
      deployment_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webpush_public_key: expect.stringMatching(/^[\w-]{87}$/)
    })
    expect(answer.headers.get("x-service-build-version")).toBe(info.version)
    expect((await server().call("GET", "/buildinfo", { token: server().owner().token })).body).toEqual(info)
    expect((await server().call("GET", "/buildinfo", { token: "stale-token" })).status).toBe(200)
  })

  it("are alive, without being counted", async () => {
    const { headers, status, text } = await server().call("GET", "//healthz")
    expect([status, text, headers.get("x-ratelimit-limit")]).toEqual([200, "OK", null])
  })

  it("show the state of background work to those who may read debugging information", async () => {
    const path = "//healthz/details"
    expect((await server().call("GET", path)).status).toBe(401)
    expect((await server().call("GET", path, { token: (await server().aMember()).token })).status).toBe(403)
    const { ok, background } = (await server().call("GET", path, { token: server().owner().token })).as(HealthDetails)
    expect(typeof ok).toBe("boolean")
    const names = background.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(["job_reaper", "notification_delivery", "user_dormancy"]))
    const work = background.find(({ name }) => name === "replica_heartbeat")
    expect(work).toMatchObject({ loops: expect.any(Number), failed_items: 0 })
    const { text } = await server().call("GET", "/debug/metrics", { token: server().owner().token })
    expect(text).toContain('background_failing{work="job_reaper"}')
  })

  it("let pages measure the distance", async () => {
    const { headers, status, text } = await server().call("GET", "//latency-check", { headers: { origin: "https://elsewhere.test" } })
    expect([status, text]).toEqual([200, "OK"])
    expect(headers.get("timing-allow-origin")).toBe("*")
    expect(headers.get("access-control-allow-origin")).toBe("*")
    expect(headers.get("access-control-allow-credentials")).toBe("false")
  })
})

it("the deployment's id outlives its processes", async () => {
  const { mkdtemp, rm } = await import("node:fs/promises")
  const { join } = await import("node:path")
  const { tmpdir } = await import("node:os")
  const folder = await mkdtemp(join(tmpdir(), "atelier-"))
  const id = async (): Promise<string> => {
    const server = await startServer(sqliteIn(folder), { empty: true })
    const { deployment_id } = (await server.call("GET", "/buildinfo")).as(Schema.Struct({ deployment_id: Schema.String }))
    await server.close()
    return deployment_id
  }
  try {
    expect(await id()).toBe(await id())
  } finally {
    await rm(folder, { recursive: true })
  }
})

it("the interface is described only where the deployment wants it", async () => {
  const described = await startServer(sqlite, { empty: true, options: { swaggerEnable: true }, brand: "Coder" })
  const silent = await startServer(sqlite, { empty: true })
  try {
    const { body, status } = await described.call("GET", "//swagger/doc.json")
    expect(status).toBe(200)
    expect(body).toMatchObject({
      info: { title: "Coder" },
      paths: { "/api/v2/users/first": { post: { security: [] } }, "/api/v2/users/{user}": { get: { security: [{ session: [] }] } } },
      components: { securitySchemes: { session: { name: "Coder-Session-Token" } } }
    })
    expect((await silent.call("GET", "//swagger/doc.json")).status).toBe(404)
  } finally {
    await described.close()
    await silent.close()
  }
})

it("requests become spans of the host's tracer", async () => {
  const names: Array<string> = []
  const tracer = Tracer.make({
    span: (name, ...rest) => {
      names.push(name)
      return silent.span(name, ...rest)
    },
    context: (execution) => execution()
  })
  for (const [tracing, expected] of [
    [tracer, true],
    [false, false]
  ] as const) {
    names.length = 0
    const server = await startServer(sqlite, { empty: true, tracing })
    try {
      await server.call("GET", "/users/first")
      expect(names.includes("http.server GET")).toBe(expected)
    } finally {
      await server.close()
    }
  }
})
