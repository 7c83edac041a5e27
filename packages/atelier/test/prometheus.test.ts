/** A real Prometheus reads the exporter, the dashboard's expressions and the alert rules. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { sqlite } from "../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../test/http/server.js"
import { type Exporter, exportMetrics } from "../src/exportMetrics.js"
import { freePort } from "./Server.js"

const run = promisify(execFile)
const deploy = fileURLToPath(new URL("../../../deploy/", import.meta.url))
const hasPrometheus = await run("prometheus", ["--version"]).then(
  () => true,
  () => false
)

interface Answer {
  readonly status: string
  readonly data: {
    readonly result: ReadonlyArray<unknown>
    readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<{ readonly health: string }> }>
  }
}

describe.skipIf(!hasPrometheus)(`Prometheus${hasPrometheus ? "" : " (skipped: it is not on the PATH)"}`, () => {
  let server: TestServer
  let exporter: Exporter
  let prometheus: ReturnType<typeof spawn>
  let folder: string
  let url: string

  const ask = async (path: string): Promise<Answer> => (await fetch(`${url}/api/v1/${path}`)).json() as Promise<Answer>
  const query = (expression: string): Promise<Answer> => ask(`query?${new URLSearchParams({ query: expression })}`)

  beforeAll(async () => {
    server = await startServer(sqlite)
    exporter = await exportMetrics({ host: "127.0.0.1", port: 0 }, server.atelier)
    folder = await mkdtemp(join(tmpdir(), "atelier-prometheus-"))
    const config = {
      global: { scrape_interval: "200ms", scrape_timeout: "200ms", evaluation_interval: "200ms" },
      rule_files: [join(deploy, "prometheus/alerts.yaml")],
      scrape_configs: [{ job_name: "atelier", static_configs: [{ targets: [new URL(exporter.url).host] }] }]
    }
    await writeFile(join(folder, "prometheus.yaml"), JSON.stringify(config))
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const place = [`--config.file=${join(folder, "prometheus.yaml")}`, `--storage.tsdb.path=${join(folder, "data")}`]
    prometheus = spawn("prometheus", [...place, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" })
    const isUp = async () => (await query(`up{job="atelier"} == 1`).catch(() => undefined))?.data.result.length === 1
    await vi.waitFor(async () => expect(await isUp()).toBe(true), { timeout: 60_000, interval: 100 })
  })

  afterAll(async () => {
    if (prometheus !== undefined) {
      const ended = once(prometheus, "exit")
      prometheus.kill()
      await ended
    }
    await exporter?.close()
    await server?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it("understands each expression of the dashboard, and has values of those that are always there", async () => {
    const text = await readFile(join(deploy, "grafana/dashboard.json"), "utf8")
    const { panels } = JSON.parse(text) as { panels: ReadonlyArray<{ targets: ReadonlyArray<{ expr: string }> }> }
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("${prefix}", "serviced_")))
    expect(expressions.length).toBeGreaterThan(10)
    for (const expression of expressions) expect((await query(expression)).status, expression).toBe("success")
    for (const name of ["api_total_user_count", "metrics_store_up", "process_resident_memory_bytes"]) {
      const always = expressions.filter((expression) => expression.includes(name))
      expect(always.length).toBe(1)
      for (const expression of always) await expect.poll(async () => (await query(expression)).data.result.length).toBeGreaterThan(0)
    }
  })

  it("evaluates each alert rule", async () => {
    const rules = async () => (await ask("rules")).data.groups.flatMap((group) => group.rules.map(({ health }) => health))
    await expect.poll(async () => [...new Set(await rules())]).toStrictEqual(["ok"])
  })

  it("raises and clears alerts as their tests say", async () => {
    await run("promtool", ["check", "config", join(deploy, "prometheus/prometheus.yaml")])
    await run("promtool", ["test", "rules", join(deploy, "prometheus/alerts.test.yaml")])
  })
})
