import {
  choice,
  command,
  type Command,
  duration,
  type Group,
  optional,
  required,
  several,
  text,
  toggle,
  whole
} from "../command/Command.js"
import { detach, parameters, workspace } from "./arguments.js"

/** The commands of the life of workspaces. */
export const workspaces: ReadonlyArray<Command | Group> = [
  command({
    name: "list",
    aliases: ["ls"],
    summary: "list workspaces",
    flags: {
      all: toggle("those of other users too", { short: "a" }),
      search: text("QUERY", 'a search, such as "template:shell status:running"', { short: "s" })
    },
    run: async (input, session) => (await import("../workspaces/list.js")).list(input, session)
  }),
  command({
    name: "show",
    summary: "show a workspace",
    args: workspace,
    run: async (input, session) => (await import("../workspaces/list.js")).show(input, session)
  }),
  command({
    name: "create",
    aliases: ["new"],
    summary: "create a workspace and wait until it is ready",
    description: ["On a terminal, the command asks for what is missing: the name, the template and its parameters."],
    args: { name: optional("its name: NAME or OWNER/NAME") },
    flags: {
      template: text("TEMPLATE", "the template: NAME or ORGANIZATION/NAME", { short: "t", kind: "template" }),
      templateVersion: text("VERSION", "a version other than the active one"),
      preset: text("PRESET", "a preset of the template, with its values"),
      ...parameters,
      stopAfter: duration("stop this long after each start"),
      deleteAfter: duration("delete the workspace after this time"),
      schedule: text("SCHEDULE", 'when it starts, such as "CRON_TZ=Europe/Berlin 0 9 * * 1-5"'),
      ...detach
    },
    examples: ["atelier create first --template shell", "atelier create box -t docker -p image=node:22 --delete-after 2h"],
    run: async (input, session) => (await import("../workspaces/create.js")).create(input, session)
  }),
  command({
    name: "start",
    summary: "start a workspace and wait until it is ready",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).start(input, session)
  }),
  command({
    name: "stop",
    summary: "stop a workspace",
    args: workspace,
    flags: detach,
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).stop(input, session)
  }),
  command({
    name: "restart",
    summary: "stop a workspace and start it again",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).restart(input, session)
  }),
  command({
    name: "update",
    summary: "start a workspace with the template's active version",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).update(input, session)
  }),
  command({
    name: "delete",
    aliases: ["rm"],
    summary: "delete workspaces with all their files",
    args: { workspaces: several("the workspaces: NAME or OWNER/NAME", "workspace") },
    flags: {
      yes: toggle("do not ask", { short: "y" }),
      orphan: toggle("delete it here alone, and leave what the template has made"),
      ...detach
    },
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).remove(input, session)
  }),
  command({
    name: "rename",
    summary: "give a workspace another name",
    args: { ...workspace, name: required("the new name") },
    run: async (input, session) => (await import("../workspaces/lifecycle.js")).rename(input, session)
  }),
  command({
    name: "logs",
    summary: "show the log of the latest build and of the agents",
    args: { workspace: required("the workspace: NAME, OWNER/NAME or OWNER/NAME.AGENT", "workspace") },
    flags: {
      follow: toggle("go on with new lines", { short: "f" }),
      build: whole("NUMBER", "the build's number instead of the latest"),
      only: choice(["build", "agent"], "one of the two")
    },
    run: async (input, session) => (await import("../workspaces/logs.js")).logs(input, session)
  })
]
