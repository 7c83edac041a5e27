/** What the template builder composes templates of. */
import type { BuilderBase, BuilderModule } from "@atelier/core/templates"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { folderOf } from "./files.js"

const filesIn = (...names: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  const folder = folderOf(...names)
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]))
}

/** Returns the bases and modules for the option `templateBuilder`. */
export const builderParts = (): { readonly bases: ReadonlyArray<BuilderBase>; readonly modules: ReadonlyArray<BuilderModule> } => ({
  bases: [
    {
      id: "scratch",
      name: "Scratch",
      description: "An agent, and a place for its machine",
      icon: "/icon/terminal.svg",
      os: "linux",
      prerequisites: "",
      variables: [],
      files: filesIn("starters", "scratch")
    }
  ],
  modules: [
    {
      id: "git-clone",
      display_name: "Git clone",
      description: "Clones a repository when the workspace starts",
      icon: "/icon/git.svg",
      category: "Source Control",
      version: "1.0.0",
      source: filesIn("modules", "git-clone"),
      compatible_os: ["linux", "darwin"],
      conflicts_with: [],
      variables: [
        { name: "agent_id", type: "string", description: "The agent that clones", computed: "coder_agent.main.id" },
        { name: "url", type: "string", description: "The address of the repository" },
        { name: "folder", type: "string", description: "The folder in the home; without one, the repository's name", default: "" }
      ]
    }
  ]
})
