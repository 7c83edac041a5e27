import { readdirSync } from "node:fs"
import type { ServerOptions } from "../../../../test/http/server.js"
import { describeScenarios } from "./describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

/** Conversations that need options of the deployment. */
const special: ReadonlyArray<readonly [names: ReadonlyArray<string>, options: NonNullable<ServerOptions["options"]>]> = [
  [["usage.jsonl", "watch-all-builds.jsonl"], { experiments: ["workspace-usage", "workspace-build-updates"] }],
  [["options-rename-and-debug.jsonl"], { allowWorkspaceRenames: true, enableTerraformDebugMode: true, disableWorkspaceSharing: true }]
]

const ordinary = readdirSync(folder).filter((name) => name.endsWith(".jsonl") && !special.some(([names]) => names.includes(name)))

describeScenarios(folder, ordinary)
for (const [names, options] of special) describeScenarios(folder, names, { options })
