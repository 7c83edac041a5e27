import { readdirSync } from "node:fs"
import { describeScenarios } from "../describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

/** A cycle each half a second; failures are forgiven soon. */
const options = {
  workspacePrebuildsReconciliationInterval: "500 millis",
  workspacePrebuildsReconciliationBackoffInterval: "2 seconds"
} as const

describeScenarios(
  folder,
  readdirSync(folder),
  { options },
  { isNoon: false, templates: new URL("../../templates/scenarios/templates/", import.meta.url) }
)
