import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

describeScenarios(
  folder,
  readdirSync(folder).filter((name) => name.endsWith(".jsonl")),
  {
    options: {
      notificationsMethod: "webhook",
      notificationsWebhookEndpoint: "http://127.0.0.1:1/hook",
      notificationsFetchInterval: "1 second",
      notificationsLeaseCount: 1_000
    }
  }
)
