import { readdirSync } from "node:fs"
import { createServer } from "node:http"
import { afterAll } from "vitest"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

/** The receiver of webhooks, and what it got. */
const hooks: Array<unknown> = []
const receiver = createServer((request, response) => {
  let text = ""
  request.setEncoding("utf8").on("data", (part: string) => (text += part))
  request.on("end", () => {
    hooks.push({ body: JSON.parse(text) })
    response.end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
afterAll(() => new Promise((resolve) => receiver.close(resolve)))
const address = receiver.address()
if (address === null || typeof address === "string") throw new Error("no port")

describeScenarios(
  folder,
  readdirSync(folder).filter((name) => name.endsWith(".jsonl")),
  {
    options: {
      notificationsMethod: "webhook",
      notificationsWebhookEndpoint: `http://127.0.0.1:${address.port}/hook`,
      notificationsFetchInterval: "1 second",
      notificationsLeaseCount: 1_000
    }
  },
  { hooks, templates: new URL("scenarios/templates/", import.meta.url) }
)
