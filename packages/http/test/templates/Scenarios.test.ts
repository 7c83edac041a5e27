import { Redacted } from "effect"
import { readdirSync } from "node:fs"
import { describeScenarios } from "../workspaces/describeScenarios.js"

const folder = new URL("scenarios/", import.meta.url)

const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))

/** Conversations whose statements other tests run on each database. */
const onOne = new Set([
  "change-refused.jsonl",
  "create-refused.jsonl",
  "daemon-refusals.jsonl",
  "deprecation.jsonl",
  "files.jsonl",
  "port-levels.jsonl",
  "quota.jsonl",
  "roles.jsonl",
  "template-builder.jsonl"
])

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
  { isNoon: false, isOnEach: (name) => !onOne.has(name), templates: new URL("templates/", folder) }
)
