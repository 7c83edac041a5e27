// How soon a new workspace in a container can be used, with a Docker daemon that has its image. ATELIER_TEST_DOCKER_HOST names the daemon.
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"
import { drain, fullPool, measure } from "./interactive.mjs"

const host = process.env.ATELIER_TEST_DOCKER_HOST
const image = "atelier-bench:1"

const cold = `agents:
  - name: main
    container:
      image: ${image}
`

const warm = `parameters:
  - name: kind
    type: string
    default: plain
presets:
  - name: Pool
    parameters: { kind: pooled }
    prebuilds:
      instances: 1
${cold}`

const makeImage = () =>
  execFileSync(fileURLToPath(new URL("../../../test/machines/docker.sh", import.meta.url)), ["static", host, image], { stdio: "inherit" })

export const docker = {
  title: "time to interactive in a container",
  run: async ({ database, databases, nodeArguments, report }) => {
    if (host === undefined) return console.log("  skipped: ATELIER_TEST_DOCKER_HOST names no daemon")
    makeImage()
    const directory = await temporaryDirectory()
    const engine = ["--engines", "docker", "--docker-host", host, "--docker-deployment", `bench-${process.pid}`]
    const args = [...engine, "--workspace-prebuilds-reconciliation-interval", "1s"]
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { args, nodeArguments })
    const { client } = server
    const figure = { database: database.name }
    try {
      const plain = await importTemplate(client, "plain", { "template.yaml": cold })
      await measure({
        client,
        figure,
        kind: "container, cold",
        ready: async () => {},
        report,
        targets: { one: 700 },
        values: { template_id: plain.id }
      })
      const pooled = await importTemplate(client, "pooled", { "template.yaml": warm })
      await measure({
        client,
        figure,
        kind: "container, warm",
        ready: () => fullPool(client, 1),
        report,
        targets: { one: database.kind === "postgres" ? 100 : 60 },
        values: { template_id: pooled.id, rich_parameter_values: [{ name: "kind", value: "pooled" }] }
      })
    } finally {
      await drain(client)
      await server.stop()
      await directory.remove()
    }
  }
}
