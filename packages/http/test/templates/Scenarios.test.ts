import { Redacted } from "effect"
import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))

describeScenarios(
  folder,
  names,
  {
    options: { provisionerDaemonPsk: Redacted.make("some-shared-key-of-the-daemons") },
    templateBuilder: {
      bases: [{ id: "box", name: "Box", description: "", icon: "", os: "linux", prerequisites: "", variables: [], files: {} }],
      modules: []
    }
  },
  { isNoon: false, templates: new URL("templates/", folder) }
)
