import { command, type Command, duration, type Group, optional, required, text, texts, toggle } from "../command/Command.js"
import { organization, template, yes } from "./arguments.js"

/** The commands of templates and tasks. */
export const templates: ReadonlyArray<Command | Group> = [
  {
    name: "templates",
    aliases: ["template"],
    summary: "what workspaces are made from",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list the templates",
        run: async (input, session) => (await import("../templates/templates.js")).listTemplates(input, session)
      }),
      command({
        name: "versions",
        summary: "list the versions of a template",
        args: template,
        run: async (input, session) => (await import("../templates/templates.js")).listVersions(input, session)
      }),
      command({
        name: "init",
        summary: "write a starter template into a folder",
        args: { directory: optional("an empty folder; named as the starter template unless given", "file") },
        flags: { from: text("STARTER", "the starter template") },
        run: async (input, session) => (await import("../templates/templates.js")).init(input, session)
      }),
      command({
        name: "push",
        summary: "make a version of a template from a folder; makes the template if it does not exist",
        description: [
          "The YAML of the template file is checked before it is sent. The import checks the rest. The new version becomes the active one."
        ],
        args: { template: optional("the template; named as the folder unless given", "template") },
        flags: {
          directory: text("DIRECTORY", "the folder; the current one unless given", { short: "d", kind: "file" }),
          message: text("MESSAGE", "what has changed", { short: "m" }),
          name: text("VERSION", "the version's name"),
          variable: texts("NAME=VALUE", "a value of a template's variable"),
          tag: texts("NAME=VALUE", "a tag of the provisioners that import it"),
          inactive: toggle("leave the active version as it is"),
          ...organization
        },
        run: async (input, session) => (await import("../templates/templates.js")).push(input, session)
      }),
      command({
        name: "pull",
        summary: "write the files of a template into a folder",
        args: { ...template, directory: optional("an empty folder; named as the template unless given", "file") },
        flags: { templateVersion: text("VERSION", "a version other than the active one") },
        run: async (input, session) => (await import("../templates/templates.js")).pull(input, session)
      }),
      command({
        name: "edit",
        summary: "change a template, or show it",
        args: template,
        flags: {
          rename: text("NAME", "another name"),
          title: text("TITLE", "the title that users see"),
          description: text("TEXT", "the description"),
          icon: text("ICON", "the icon's address"),
          stopAfter: duration("when its workspaces stop after a start"),
          activate: text("VERSION", "the version to use from now on")
        },
        run: async (input, session) => (await import("../templates/templates.js")).edit(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a template without workspaces",
        args: template,
        flags: yes,
        run: async (input, session) => (await import("../templates/templates.js")).removeTemplate(input, session)
      })
    ]
  },
  {
    name: "tasks",
    aliases: ["task"],
    summary: "work that an assistant does in a workspace",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list tasks",
        flags: { search: text("QUERY", "a search", { short: "s" }) },
        run: async (input, session) => (await import("../tasks/tasks.js")).listTasks(input, session)
      }),
      command({
        name: "create",
        summary: "create a task, and print its name",
        args: { input: optional("what is to be done; the standard input unless given") },
        flags: { template: text("TEMPLATE", "the template", { short: "t", kind: "template" }), name: text("NAME", "the task's name") },
        run: async (input, session) => (await import("../tasks/tasks.js")).createTask(input, session)
      }),
      command({
        name: "send",
        summary: "send a message to a task",
        args: { task: required("the task"), input: optional("the message; the standard input unless given") },
        run: async (input, session) => (await import("../tasks/tasks.js")).sendToTask(input, session)
      }),
      command({
        name: "logs",
        summary: "show the messages of a task",
        args: { task: required("the task") },
        run: async (input, session) => (await import("../tasks/tasks.js")).taskLogs(input, session)
      }),
      command({
        name: "attach",
        summary: "take part in the conversation of a task",
        description: ["The messages are shown as they come, and each line of the standard input is a message to the task."],
        args: { task: required("the task") },
        run: async (input, session) => (await import("../tasks/attach.js")).attach(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a task with its workspace",
        args: { task: required("the task") },
        run: async (input, session) => (await import("../tasks/tasks.js")).removeTask(input, session)
      })
    ]
  }
]
