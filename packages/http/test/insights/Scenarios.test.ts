import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

describeScenarios(
  folder,
  readdirSync(folder).filter((name) => name.endsWith(".jsonl")),
  {},
  { templates: new URL("../workspaces/scenarios/templates/", import.meta.url) }
)
