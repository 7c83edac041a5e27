import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sqlite } from "../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../test/http/server.js"
import { type Exporter, exportMetrics } from "../src/exportMetrics.js"
import { parseOptions } from "../src/Options.js"

const optionsOf = (...args: ReadonlyArray<string>) => parseOptions(args, {})

describe("the exporter of metrics", () => {
  let server: TestServer
  let exporter: Exporter

  beforeAll(async () => {
    server = await startServer(sqlite)
    exporter = await exportMetrics({ host: "127.0.0.1", port: 0 }, server.atelier)
  })

  afterAll(async () => {
    await exporter.close()
    await server.close()
  })

  it("serves metrics without a session", async () => {
    const response = await fetch(exporter.url)
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
    expect(await response.text()).toContain('serviced_api_total_user_count{status="active"} 1\n')
  })

  it("serves nothing else", async () => {
    const { origin } = new URL(exporter.url)
    expect((await fetch(`${origin}/api/v2/users`)).status).toBe(404)
    const posted = await fetch(exporter.url, { method: "POST" })
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"])
  })

  it("refuses an address that is taken", async () => {
    const port = Number(new URL(exporter.url).port)
    await expect(exportMetrics({ host: "127.0.0.1", port }, server.atelier)).rejects.toMatchObject({ option: "prometheusAddress" })
  })

  it("is off by default and has an address of its own", () => {
    expect(optionsOf()).toMatchObject({ metrics: undefined })
    expect(optionsOf("--prometheus-enable")).toMatchObject({ metrics: { host: "127.0.0.1", port: 2112 } })
    expect(optionsOf("--prometheus-enable", "--prometheus-address", "[::1]:9000")).toMatchObject({ metrics: { host: "::1", port: 9000 } })
    expect(() => optionsOf("--prometheus-enable", "--prometheus-address", "nowhere")).toThrow("--prometheus-address must be HOST:PORT")
  })
})
