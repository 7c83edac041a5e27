import { choice, command, type Command, duration, type Group, oneOf, optional, text, texts, toggle, whole } from "../command/Command.js"
import { reached, workspace } from "./arguments.js"

/** The commands that change the settings of workspaces. */
export const settings: ReadonlyArray<Command | Group> = [
  command({
    name: "schedule",
    summary: "show or change when a workspace starts and stops",
    args: workspace,
    flags: {
      start: text("SCHEDULE", 'when it starts, such as "CRON_TZ=Europe/Berlin 0 9 * * 1-5", or none'),
      stopAfter: text("DURATION", "how long after each start it stops, from the next start on, or none"),
      extend: duration("let it run this long from now")
    },
    run: async (input, session) => (await import("../workspaces/settings.js")).schedule(input, session)
  }),
  command({
    name: "favorite",
    summary: "put a workspace first in lists",
    args: workspace,
    flags: { remove: toggle("undo it") },
    run: async (input, session) => (await import("../workspaces/settings.js")).favorite(input, session)
  }),
  command({
    name: "share",
    summary: "share a workspace, or show who may use it",
    args: workspace,
    flags: { user: texts("USER", "a user to share it with"), role: choice(["use", "admin", "none"], "what the users may do; default use") },
    run: async (input, session) => (await import("../workspaces/settings.js")).share(input, session)
  }),
  command({
    name: "autoupdate",
    summary: "let each start use the template's active version, or not",
    args: { ...workspace, policy: oneOf(["always", "never"], "always or never") },
    run: async (input, session) => (await import("../workspaces/settings.js")).autoupdate(input, session)
  }),
  command({
    name: "open",
    summary: "open a terminal, an app or an editor",
    description: ["Without an app and an editor, a terminal opens in the browser. Editors connect through OpenSSH: run config-ssh first."],
    args: { ...reached, app: optional("the app's slug") },
    flags: {
      in: choice(["code", "cursor", "windsurf", "zed", "jetbrains", "vim"], "the editor"),
      print: toggle("print the address without opening it")
    },
    run: async (input, session) => (await import("../workspaces/settings.js")).open(input, session)
  }),
  command({
    name: "ping",
    summary: "measure the way to the agent and back",
    args: reached,
    flags: { count: whole("NUMBER", "how often; default 4", { short: "c" }) },
    run: async (input, session) => (await import("../workspaces/ping.js")).ping(input, session)
  }),
  command({
    name: "top",
    summary: "show what the agent measures, such as load, memory and disk",
    args: reached,
    flags: { once: toggle("show it once") },
    run: async (input, session) => (await import("../workspaces/ping.js")).top(input, session)
  })
]
