/** All commands. What does the work of each one is loaded with its first use, so that the program starts fast. */
import { choice, type Command, type Group, text, toggle } from "./command/Command.js"
import type { Section } from "./command/help.js"
import { access } from "./commands/access.js"
import { administration } from "./commands/administration.js"
import { connections } from "./commands/connections.js"
import { others } from "./commands/others.js"
import { settings } from "./commands/settings.js"
import { templates } from "./commands/templates.js"
import { workspaces } from "./commands/workspaces.js"

/** The options of every command. */
export const globals = {
  output: choice(["table", "json", "jsonl"], "how results are printed", { short: "o", variable: "ATELIER_OUTPUT" }),
  quiet: toggle("print results alone", { short: "q" }),
  debug: toggle("show requests, and where a failure comes from"),
  context: text("NAME", "the login to use instead of the current one", { variable: "ATELIER_CONTEXT", kind: "context" }),
  url: text("URL", "the service's address; needs ATELIER_TOKEN unless the login is for it", { variable: "ATELIER_URL" })
}

export const commands: ReadonlyArray<Command | Group> = [
  ...access,
  ...workspaces,
  ...settings,
  ...connections,
  ...templates,
  ...administration,
  ...others
]

const namesOf = (entries: ReadonlyArray<Command | Group>): ReadonlyArray<string> => entries.map(({ name }) => name)

/** The parts of the overview. */
export const sections: ReadonlyArray<Section> = [
  { title: "Login", names: namesOf(access) },
  { title: "Workspaces", names: [...namesOf(workspaces), ...namesOf(settings)] },
  { title: "Work in a workspace", names: namesOf(connections) },
  { title: "Templates and tasks", names: namesOf(templates) },
  { title: "Administration", names: namesOf(administration) },
  { title: "More", names: namesOf(others).filter((name) => name !== "complete") }
]
