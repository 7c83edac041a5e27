/** The metrics that operators watch, as Prometheus reads them. notifications-audit-insights.md Part E. */
import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../test/http/server.js"

/** The samples of a scrape by their names with labels. */
const scrape = async (server: TestServer): Promise<ReadonlyMap<string, number>> => {
  const { headers, status, text } = await server.call("GET", "/debug/metrics", { token: server.owner().token })
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))])
  )
}

describeServer("metrics", (server) => {
  it("are for owners alone", async () => {
    const { token } = await server().aMember()
    expect((await server().call("GET", "/debug/metrics", { token })).status).toBe(403)
    expect((await server().call("GET", "/debug/metrics")).status).toBe(401)
  })

  it("count the users of the store by status", async () => {
    server().advance("1 minute")
    const before = await scrape(server())
    await server().aMember({ status: "suspended" })
    const name = 'serviced_api_total_user_count{status="suspended"}'
    expect((await scrape(server())).get(name)).toBe(before.get(name))
    server().advance("1 minute")
    const after = await scrape(server())
    expect(after.get(name)).toBe((before.get(name) ?? 0) + 1)
    expect(after.get("serviced_api_active_users_duration_hour")).toBeGreaterThan(0)
    expect(after.get("serviced_metrics_store_up")).toBe(1)
  })

  it("count requests by the path of their route", async () => {
    const { token } = server().owner()
    const of = (labels: string) => `serviced_api_requests_processed_total{${labels}}`
    const found = of('code="200",method="GET",path="/api/v2/users/{user}"')
    const unknown = of('code="404",method="GET",path="unmatched"')
    const before = await scrape(server())
    await server().call("GET", "/users/me", { token })
    await server().call("GET", "/users/owner", { token })
    for (const path of ["/nowhere/1", "/nowhere/2"]) expect((await server().call("GET", path, { token })).status).toBe(404)
    // A request may be counted after its answer has arrived
    await expect.poll(async () => (await scrape(server())).get(unknown)).toBe((before.get(unknown) ?? 0) + 2)
    const after = await scrape(server())
    expect(after.get(found)).toBe((before.get(found) ?? 0) + 2)
    expect(after.get('serviced_api_request_latencies_seconds_count{method="GET",path="/api/v2/users/{user}"}')).toBeGreaterThanOrEqual(2)
    expect(after.get('serviced_api_concurrent_requests{method="GET",path="/api/v2/users/{user}"}')).toBe(0)
    expect(after.get('serviced_api_concurrent_requests{method="GET",path="/api/v2/debug/metrics"}')).toBe(1)
    expect([...after.keys()].filter((name) => name.includes("nowhere"))).toEqual([])
  })

  it("are those that the dashboard and the alert rules ask for", async () => {
    const root = new URL("../../../../", import.meta.url)
    const page = await readFile(new URL("docs/operating.md", root), "utf8")
    const dashboard = await readFile(new URL("deploy/grafana/dashboard.json", root), "utf8")
    const alerts = await readFile(new URL("deploy/prometheus/alerts.yaml", root), "utf8")
    const asked = [
      ...dashboard.matchAll(/\$\{prefix\}([a-z_]+?)(?:_bucket)?[^a-z_]/g),
      ...alerts.matchAll(/\bserviced_([a-z_]+?)(?:_bucket)?[^a-z_]/g)
    ]
    const names = asked.map(([, name]) => name ?? "").filter((name) => name !== "")
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    const samples = [...(await scrape(server())).keys()]
    const always = names.filter((name) => name.startsWith("api_") && !name.includes("workspace") && !name.includes("websocket"))
    expect(always.filter((name) => !samples.some((sample) => sample.startsWith(`serviced_${name}`)))).toEqual([])
  })

  it("tell of the process", async () => {
    const samples = await scrape(server())
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000)
    expect([...samples.keys()].filter((name) => name.startsWith("serviced_build_info{version="))).toHaveLength(1)
  })
})
