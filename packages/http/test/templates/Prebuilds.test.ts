import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/prebuilds/", import.meta.url)

/** A cycle each half a second; failures are forgiven soon. */
const options = {
  workspacePrebuildsReconciliationInterval: "500 millis",
  workspacePrebuildsReconciliationBackoffInterval: "2 seconds"
} as const

/** Conversations whose statements other tests run on each database. */
const onOne = new Set([
  "prebuild-claim.jsonl",
  "prebuild-expiry.jsonl",
  "prebuild-refusals.jsonl",
  "prebuild-settings.jsonl",
  "prebuild-validation-failed.jsonl"
])

describeScenarios(
  folder,
  readdirSync(folder),
  { options },
  { isNoon: false, isOnEach: (name) => !onOne.has(name), templates: new URL("scenarios/templates/", import.meta.url) }
)
