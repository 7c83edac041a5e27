import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))

describeScenarios(folder, names, {}, { isNoon: false, templates: new URL("templates/", folder) })
