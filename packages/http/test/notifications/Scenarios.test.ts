import { defaultNotificationOptions } from "@atelier/core/deployment"
import { WebhookDispatcher } from "@atelier/node"
import { Duration } from "effect"
import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

describeScenarios(
  folder,
  readdirSync(folder).filter((name) => name.endsWith(".jsonl")),
  {
    dispatchers: [WebhookDispatcher.make({ endpoint: "http://127.0.0.1:1/hook" })],
    deployment: {
      notifications: { ...defaultNotificationOptions, method: "webhook", fetch_interval: Duration.seconds(1), lease_count: 1_000 }
    }
  }
)
