/** Workspace proxies that run, beside what the recorded conversations have. */
import { WorkspaceProxies } from "@atelier/core/deployment"
import { Uuid } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Redacted, Schema } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { databaseUrl } from "../../../../../test/store/databases.js"
import { auditEntries } from "../../../../../test/http/audit.js"
import { startServer } from "../../../../../test/http/server.js"
import { describeAgents } from "../../agents/AgentServer.js"
import { agentNode, clientNode, coordinate, tunnelTo } from "../../network/peers.js"

const Made = Schema.Struct({
  name: Schema.String,
  proxy: Schema.Struct({ id: Uuid.Uuid, name: Schema.String }),
  proxy_token: Schema.String
})
const Proxy = Schema.Struct({
  healthy: Schema.Boolean,
  status: Schema.Struct({
    status: Schema.String,
    report: Schema.Struct({ errors: Schema.Array(Schema.String), warnings: Schema.Array(Schema.String) })
  })
})
const Regions = Schema.Struct({ regions: Schema.Array(Schema.Struct({ name: Schema.String, healthy: Schema.Boolean })) })

/** What the proxy of these tests tells of its health. */
const told = { status: 200, report: { errors: [] as ReadonlyArray<string>, warnings: ["slow"] as ReadonlyArray<string> | null } }
const proxy = createServer((request, response) => {
  response.statusCode = request.url === "/healthz-report" ? told.status : 404
  response.end(JSON.stringify(told.report))
})
beforeAll(() => new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve)))
afterAll(() => new Promise((resolve) => proxy.close(resolve)))

const registration = () => ({
  access_url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  wildcard_hostname: "",
  derp_enabled: true,
  derp_only: false,
  replica_id: crypto.randomUUID(),
  hostname: "one",
  replica_error: "",
  replica_relay_address: "",
  version: "v2.0.0"
})

describeAgents("a workspace proxy", (server) => {
  const token = () => server().owner().token
  const aProxy = async (name: string) =>
    (await server().call("POST", "/workspaceproxies", { token: token(), body: { name, display_name: "", icon: "" } })).as(Made)

  const own = (secret: string) => ({ "Service-External-Proxy-Token": secret })
  const register = (secret: string, changes: object = {}) =>
    server().call("POST", "/workspaceproxies/me/register", {
      headers: own(secret),
      body: { ...registration(), ...changes }
    })

  const statusOf = async (name: string) => (await server().call("GET", `/workspaceproxies/${name}`, { token: token() })).as(Proxy).status

  it("works once it has registered without errors", async () => {
    told.report = { errors: [], warnings: ["slow"] }
    const { name, proxy: made, proxy_token } = await aProxy("east")
    expect(name).toBe("east")
    expect((await statusOf("east")).status).toBe("unregistered")
    const registered = await register(proxy_token)
    expect([registered.status, registered.body]).toMatchObject([201, { derp_region_id: expect.any(Number), sibling_replicas: [] }])
    await expect.poll(() => statusOf("east")).toStrictEqual({ status: "ok", report: { errors: [], warnings: ["slow"] } })
    const info = await server().call("GET", "/workspaceagents/connection", { token: token() })
    expect(info.body).toMatchObject({
      derp_map: {
        Regions: {
          "10001": { RegionCode: "service_east", RegionName: "east", Nodes: [{ Name: "10001a", HostName: "127.0.0.1", ForceHTTP: true }] }
        }
      }
    })
    const { regions } = (await server().call("GET", "/regions", { token: token() })).as(Regions)
    expect(regions).toStrictEqual([
      { name: "primary", healthy: true },
      { name: "east", healthy: true }
    ])

    told.report = { errors: ["broken"], warnings: null }
    await register(proxy_token, { version: "v2.0.1" })
    await expect.poll(() => statusOf("east")).toStrictEqual({ status: "unhealthy", report: { errors: ["broken"], warnings: [] } })
    told.report = { errors: [], warnings: null }
    await register(proxy_token, { access_url: "http://127.0.0.1:1" })
    await expect.poll(async () => (await statusOf("east")).status).toBe("unreachable")
    await server().call("DELETE", `/workspaceproxies/${made.id}`, { token: token() })
  })

  it("gets the keys of apps, of its features alone and with its token alone", async () => {
    const { proxy_token } = await aProxy("keys")
    const keys = (feature: string, headers = own(proxy_token)) =>
      server().call("GET", `/workspaceproxies/me/crypto-keys?feature=${feature}`, { headers })
    expect((await keys("workspace_apps_token")).body).toMatchObject({
      crypto_keys: [{ feature: "workspace_apps_token", secret: expect.stringMatching(/^[0-9a-f]{128}$/), sequence: 1 }]
    })
    expect((await keys("workspace_apps_api_key")).body).toMatchObject({
      crypto_keys: [{ feature: "workspace_apps_api_key", secret: expect.stringMatching(/^[0-9a-f]{64}$/), sequence: 1 }]
    })
    expect((await keys("oidc_convert")).status).toBe(400)
    expect((await keys("workspace_apps_token", own(`${crypto.randomUUID()}:${"a".repeat(64)}`))).status).toBe(401)
  })

  it("that is deleted is read and deleted by its id, and not changed", async () => {
    const { proxy: made } = await aProxy("gone")
    const path = `/workspaceproxies/${made.id}`
    expect((await server().call("DELETE", path, { token: token() })).status).toBe(200)
    const body = { id: made.id, name: "gone", display_name: "Gone", icon: "/emojis/1f1e6.png", regenerate_token: true }
    const statuses = [
      (await server().call("GET", path, { token: token() })).status,
      (await server().call("PATCH", path, { token: token(), body })).status,
      (await server().call("DELETE", path, { token: token() })).status
    ]
    expect(statuses).toStrictEqual([200, 404, 200])
  })

  it("registers nothing by a token that is replaced while its request is read", async () => {
    const { proxy: made, proxy_token } = await aProxy("stale")
    const body = { id: made.id, name: "stale", display_name: "Stale", icon: "/emojis/1f1e6.png", regenerate_token: true }
    expect((await server().call("PATCH", `/workspaceproxies/${made.id}`, { token: token(), body })).status).toBe(200)
    const former = Redacted.make(proxy_token)
    const refusals = await server().run(
      Effect.flatMap(WorkspaceProxies, ({ deregister, register }) => {
        const { replica_error: error, replica_relay_address: relay_address, ...rest } = registration()
        const registering = register(former, { ...rest, replica_id: Uuid.Uuid.make(rest.replica_id), error, relay_address })
        return Effect.all([Effect.flip(registering), Effect.flip(deregister(former, Uuid.Uuid.make(rest.replica_id)))])
      })
    )
    expect(refusals.map(({ _tag }) => _tag)).toStrictEqual(["Unauthenticated", "Unauthenticated"])
    expect((await statusOf("stale")).status).toBe("unregistered")
    await server().call("DELETE", `/workspaceproxies/${made.id}`, { token: token() })
  })

  it("keeps an audit entry of a refused deletion", async () => {
    const { proxy: made } = await aProxy("kept")
    const path = `/workspaceproxies/${made.id}`
    const member = await server().aMember()
    expect((await server().call("GET", path, { token: member.token })).status).toBe(200)
    expect((await server().call("DELETE", path, { token: member.token })).status).toBe(404)
    const entries = await server().run(auditEntries({ resource_id: made.id, user_id: member.user.id }))
    expect(entries).toMatchObject([{ action: "delete", status_code: 404 }])
    await server().call("DELETE", path, { token: token() })
  })

  it("takes part in the private network until its token ends", async () => {
    const { proxy: made, proxy_token } = await aProxy("west")
    const agent = await server().anAgent()
    const connection = await server().connect(agent.token)
    const peer = coordinate(connection)
    peer.send(agentNode(agent.id))
    const joined = await server().join("/workspaceproxies/me/coordinate?version=2.0", "", own(proxy_token))
    const west = coordinate(joined)
    west.send({ ...clientNode, ...tunnelTo(agent.id) })
    expect(await west.next()).toStrictEqual([[agent.id, "NODE", 999]])
    await server().call("DELETE", `/workspaceproxies/${made.id}`, { token: token() })
    await joined.closed
    expect((await register(proxy_token)).status).toBe(401)
    await connection.close()
  })
})

it("is asked by every process once it has registered with one", async () => {
  await Effect.gen(function* () {
    const storage = Postgres.layer({ url: yield* databaseUrl, maxConnections: 3 })
    yield* Effect.promise(async () => {
      const one = await startServer(storage)
      const other = await startServer(storage, { empty: true })
      const { token } = one.owner()
      told.status = 200
      told.report = { errors: [], warnings: [] }
      const made = (await one.call("POST", "/workspaceproxies", { token, body: { name: "east", display_name: "", icon: "" } })).as(Made)
      const registered = await one.call("POST", "/workspaceproxies/me/register", {
        headers: { "Service-External-Proxy-Token": made.proxy_token },
        body: registration()
      })
      expect(registered.status).toBe(201)
      const healthy = async () => (await other.call("GET", "/workspaceproxies/east", { token })).as(Proxy).healthy
      await expect.poll(healthy).toBe(true)
      await Promise.all([one.close(), other.close()])
    })
  }).pipe(Effect.scoped, Effect.runPromise)
})
