/** All commands. What does the work of each one is loaded with its first use, so that the program starts fast. */
import {
  choice,
  type Command,
  command,
  duration,
  type Group,
  optional,
  required,
  several,
  text,
  texts,
  toggle,
  whole
} from "./command/Command.js"
import type { Section } from "./command/help.js"

/** The options of every command. */
export const globals = {
  output: choice(["table", "json", "jsonl"], "how results are printed", { short: "o", variable: "ATELIER_OUTPUT" }),
  quiet: toggle("print results alone", { short: "q" }),
  debug: toggle("show requests, and where a failure comes from"),
  context: text("NAME", "the login to use instead of the current one", { variable: "ATELIER_CONTEXT" }),
  url: text("URL", "the service's address; needs ATELIER_TOKEN unless the login is for it", { variable: "ATELIER_URL" })
}

const workspace = { workspace: required("the workspace: NAME or OWNER/NAME", "workspace") }
const detach = { detach: toggle("do not wait for the build", { short: "d" }) }
const parameters = {
  parameter: texts("NAME=VALUE", "a value of a parameter", { short: "p" }),
  parameterFile: text("FILE", "a JSON object of parameters and their values")
}

const access: ReadonlyArray<Command | Group> = [
  command({
    name: "login",
    summary: "log in to a service, and use it from now on",
    description: [
      "Without options, the login goes through the browser. Its token may do what the user may, except to give credentials or rights: name scopes with --scope for more, or log in with a password or a token.",
      "Each login is a context. The token is kept in a file that only the user can read."
    ],
    args: { url: optional("the service's address, such as https://dev.example.com") },
    flags: {
      name: text("NAME", "the name of the context; the host unless given"),
      email: text("EMAIL", "log in with this address and a password", { short: "e" }),
      passwordStdin: toggle("read the password from the standard input"),
      tokenStdin: toggle("read a token from the standard input"),
      browser: toggle("log in through the browser, also without a terminal"),
      noOpen: toggle("print the address without opening it"),
      scope: texts("SCOPE", "a scope that a login by browser asks for in addition")
    },
    examples: ["atelier login https://dev.example.com", "atelier login dev.example.com --token-stdin < token.txt"],
    run: async (input, session) => (await import("./access/login.js")).login(input, session)
  }),
  command({
    name: "logout",
    summary: "end the login and forget its token",
    run: async (input, session) => (await import("./access/account.js")).logout(input, session)
  }),
  command({
    name: "whoami",
    summary: "show the user who is logged in",
    run: async (input, session) => (await import("./access/account.js")).whoami(input, session)
  }),
  {
    name: "context",
    aliases: ["contexts"],
    summary: "the services that you are logged in to",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list the contexts",
        run: async (input, session) => (await import("./access/account.js")).listContexts(input, session)
      }),
      command({
        name: "use",
        summary: "use a context from now on",
        args: { name: required("the context", "context") },
        run: async (input, session) => (await import("./access/account.js")).useContext(input, session)
      }),
      command({
        name: "remove",
        aliases: ["rm"],
        summary: "forget a context without ending its token",
        args: { name: required("the context", "context") },
        run: async (input, session) => (await import("./access/account.js")).removeContext(input, session)
      })
    ]
  }
]

const workspaces: ReadonlyArray<Command | Group> = [
  command({
    name: "list",
    aliases: ["ls"],
    summary: "list workspaces",
    flags: {
      all: toggle("those of other users too", { short: "a" }),
      search: text("QUERY", 'a search, such as "template:shell status:running"', { short: "s" })
    },
    run: async (input, session) => (await import("./workspaces/list.js")).list(input, session)
  }),
  command({
    name: "show",
    summary: "show a workspace",
    args: workspace,
    run: async (input, session) => (await import("./workspaces/list.js")).show(input, session)
  }),
  command({
    name: "create",
    aliases: ["new"],
    summary: "create a workspace and wait until it is ready",
    description: ["On a terminal, the command asks for what is missing: the name, the template and its parameters."],
    args: { name: optional("its name: NAME or OWNER/NAME") },
    flags: {
      template: text("TEMPLATE", "the template: NAME or ORGANIZATION/NAME", { short: "t" }),
      templateVersion: text("VERSION", "a version other than the active one"),
      preset: text("PRESET", "a preset of the template, with its values"),
      ...parameters,
      stopAfter: duration("stop this long after each start"),
      deleteAfter: duration("delete the workspace after this time"),
      schedule: text("SCHEDULE", 'when it starts, such as "CRON_TZ=Europe/Berlin 0 9 * * 1-5"'),
      ...detach
    },
    examples: ["atelier create first --template shell", "atelier create box -t docker -p image=node:22 --delete-after 2h"],
    run: async (input, session) => (await import("./workspaces/create.js")).create(input, session)
  }),
  command({
    name: "start",
    summary: "start a workspace and wait until it is ready",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).start(input, session)
  }),
  command({
    name: "stop",
    summary: "stop a workspace",
    args: workspace,
    flags: detach,
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).stop(input, session)
  }),
  command({
    name: "restart",
    summary: "stop a workspace and start it again",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).restart(input, session)
  }),
  command({
    name: "update",
    summary: "start a workspace with the template's active version",
    args: workspace,
    flags: { ...parameters, ...detach },
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).update(input, session)
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
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).remove(input, session)
  }),
  command({
    name: "rename",
    summary: "give a workspace another name",
    args: { ...workspace, name: required("the new name") },
    run: async (input, session) => (await import("./workspaces/lifecycle.js")).rename(input, session)
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
    run: async (input, session) => (await import("./workspaces/logs.js")).logs(input, session)
  })
]

const reached = { workspace: required("the workspace: NAME, OWNER/NAME or OWNER/NAME.AGENT", "workspace") }
const runs = {
  tty: toggle("give the command a terminal", { short: "t" }),
  noTty: toggle("give the command no terminal", { short: "T" }),
  noInput: toggle("do not read the standard input", { short: "n" }),
  cwd: text("DIRECTORY", "where the command runs", { short: "C" }),
  env: texts("NAME=VALUE", "a variable of the command's environment", { short: "e" })
}

const connections: ReadonlyArray<Command | Group> = [
  command({
    name: "ssh",
    summary: "open a shell in a workspace, or run a line of the shell",
    description: [
      "On a terminal, Enter followed by ~ and . leaves a shell whose connection is stuck. The shell outlives a lost connection: the program connects again.",
      "With --stdio, the command carries the bytes of an SSH connection, as a ProxyCommand of OpenSSH. config-ssh sets that up."
    ],
    args: reached,
    words: "COMMAND",
    flags: {
      ...runs,
      stdio: toggle("carry SSH over the standard input and output"),
      suffix: text("SUFFIX", "with --stdio: the workspace is the name of a host with this suffix"),
      client: choice(["ssh", "vscode", "jetbrains"], "with --stdio: what uses the connection, for the connection log")
    },
    examples: ["atelier ssh first", "atelier ssh first -- 'ls | wc -l'"],
    run: async (input, session) =>
      input.stdio
        ? (await import("./connect/sshStream.js")).stdio(input, session)
        : (await import("./connect/exec.js")).shell(input, session)
  }),
  command({
    name: "exec",
    summary: "run a command in a workspace, and end with its exit code",
    description: ["The standard input is piped to the command. If both sides are a terminal, the command gets one."],
    args: reached,
    words: "COMMAND",
    flags: { ...runs, timeout: duration("end the command after this time") },
    examples: ["atelier exec first -- make test", "cat notes.txt | atelier exec first wc -l"],
    run: async (input, session) => (await import("./connect/exec.js")).exec(input, session)
  }),
  command({
    name: "cp",
    summary: "copy files and directories from or into a workspace",
    description: [
      "A file of a workspace is WORKSPACE:PATH; a relative path begins at the agent's directory. - is the standard input or output. A copy of a file out of a workspace that was interrupted goes on where it was."
    ],
    args: { paths: several("the sources and the target", "file") },
    examples: ["atelier cp notes.txt first:", "atelier cp first:project/ .", "atelier cp first:data.csv -"],
    run: async (input, session) => (await import("./files/copy.js")).copy(input, session)
  }),
  command({
    name: "port-forward",
    aliases: ["forward"],
    summary: "reach ports of a workspace on this machine",
    description: ["Only TCP is forwarded. Local port 0 takes a free one."],
    args: { ...reached, ports: several("PORT, LOCAL:PORT or ADDRESS:LOCAL:PORT") },
    examples: ["atelier port-forward first 8080 3001:3000"],
    run: async (input, session) => (await import("./connect/portForward.js")).portForward(input, session)
  }),
  command({
    name: "config-ssh",
    summary: "let OpenSSH and editors reach workspaces by name",
    description: [
      "The hosts are WORKSPACE.atelier, WORKSPACE.OWNER.atelier and AGENT.WORKSPACE.OWNER.atelier. They are in a file of the program's own, and the user's configuration gets one Include line."
    ],
    flags: {
      suffix: text("SUFFIX", "the end of the names of hosts, one for each service; default atelier"),
      sshConfig: text("FILE", "the user's configuration; default ~/.ssh/config"),
      dryRun: toggle("show what would change"),
      remove: toggle("undo it")
    },
    examples: ["atelier config-ssh", "ssh first.atelier"],
    run: async (input, session) => (await import("./connect/configSsh.js")).configSsh(input, session)
  }),
  command({
    name: "sync",
    summary: "copy a folder into a workspace, and then what changes in it",
    args: { directory: required("a folder of this machine", "file"), target: required("WORKSPACE:PATH") },
    flags: {
      exclude: texts("NAME", "a file or folder that is left out", { short: "x" }),
      once: toggle("copy once"),
      remove: toggle("remove there what is removed here")
    },
    examples: ["atelier sync . first:project -x node_modules -x .git"],
    run: async (input, session) => (await import("./files/sync.js")).sync(input, session)
  }),
  command({
    name: "socks",
    summary: "run a SOCKS5 proxy to the ports of a workspace",
    description: [
      "The proxy listens on this machine alone. It leads to the workspace and no further, under the names localhost and WORKSPACE."
    ],
    args: reached,
    flags: { port: whole("PORT", "where it listens; default 1080, and 0 takes a free one") },
    run: async (input, session) => (await import("./connect/socksProxy.js")).socksProxy(input, session)
  }),
  {
    name: "sandbox",
    aliases: [],
    summary: "workspaces for one command",
    commands: [
      command({
        name: "run",
        summary: "create a workspace, run a command in it, and delete it",
        description: [
          "The output is the command's, and so is the exit code. The service deletes the workspace after an hour, or the given time, if the program is gone by then."
        ],
        args: { template: required("the template", "template") },
        words: "COMMAND",
        flags: {
          ...parameters,
          ...runs,
          deleteAfter: duration("when the service deletes it at the latest"),
          keep: toggle("do not delete it")
        },
        examples: ["atelier sandbox run shell -- sh -c 'uname -a'"],
        run: async (input, session) => (await import("./connect/exec.js")).runSandbox(input, session)
      })
    ]
  }
]

const yes = { yes: toggle("do not ask", { short: "y" }) }
const template = { template: required("the template: NAME or ORGANIZATION/NAME", "template") }
const organization = { organization: text("ORGANIZATION", "the organization; the default one unless given") }

const settings: ReadonlyArray<Command | Group> = [
  command({
    name: "schedule",
    summary: "show or change when a workspace starts and stops",
    args: workspace,
    flags: {
      start: text("SCHEDULE", 'when it starts, such as "CRON_TZ=Europe/Berlin 0 9 * * 1-5", or none'),
      stopAfter: text("DURATION", "how long after a start it stops, or none"),
      extend: duration("let it run this long from now")
    },
    run: async (input, session) => (await import("./workspaces/settings.js")).schedule(input, session)
  }),
  command({
    name: "favorite",
    summary: "put a workspace first in lists",
    args: workspace,
    flags: { remove: toggle("undo it") },
    run: async (input, session) => (await import("./workspaces/settings.js")).favorite(input, session)
  }),
  command({
    name: "share",
    summary: "share a workspace, or show who may use it",
    args: workspace,
    flags: { user: texts("USER", "a user to share it with"), role: choice(["use", "admin", "none"], "what the users may do; default use") },
    run: async (input, session) => (await import("./workspaces/settings.js")).share(input, session)
  }),
  command({
    name: "autoupdate",
    summary: "let each start use the template's active version, or not",
    args: { ...workspace, policy: required("always or never") },
    run: async (input, session) => (await import("./workspaces/settings.js")).autoupdate(input, session)
  }),
  command({
    name: "open",
    summary: "open a terminal, an app or an editor",
    description: ["Without an app and an editor, a terminal opens in the browser. Editors connect through OpenSSH: run config-ssh first."],
    args: { ...reached, app: optional("the app's slug") },
    flags: { in: choice(["code", "cursor", "windsurf", "vim"], "the editor"), print: toggle("print the address without opening it") },
    run: async (input, session) => (await import("./workspaces/settings.js")).open(input, session)
  }),
  command({
    name: "ping",
    summary: "measure the way to the agent and back",
    args: reached,
    flags: { count: whole("NUMBER", "how often; default 4", { short: "c" }) },
    run: async (input, session) => (await import("./workspaces/ping.js")).ping(input, session)
  }),
  command({
    name: "top",
    summary: "show what the agent measures, such as load, memory and disk",
    args: reached,
    flags: { once: toggle("show it once") },
    run: async (input, session) => (await import("./workspaces/ping.js")).top(input, session)
  })
]

const templates: ReadonlyArray<Command | Group> = [
  {
    name: "templates",
    aliases: ["template"],
    summary: "what workspaces are made from",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list the templates",
        run: async (input, session) => (await import("./templates/templates.js")).listTemplates(input, session)
      }),
      command({
        name: "versions",
        summary: "list the versions of a template",
        args: template,
        run: async (input, session) => (await import("./templates/templates.js")).listVersions(input, session)
      }),
      command({
        name: "init",
        summary: "write a starter template into a folder",
        args: { directory: optional("an empty folder; named as the starter template unless given", "file") },
        flags: { from: text("STARTER", "the starter template") },
        run: async (input, session) => (await import("./templates/templates.js")).init(input, session)
      }),
      command({
        name: "push",
        summary: "make a version of a template from a folder, and the template if there is none",
        description: ["The template file is looked at before it is sent. The new version becomes the active one."],
        args: { template: optional("the template; named as the folder unless given", "template") },
        flags: {
          directory: text("DIRECTORY", "the folder; the current one unless given", { short: "d" }),
          message: text("MESSAGE", "what has changed", { short: "m" }),
          name: text("VERSION", "the version's name"),
          variable: texts("NAME=VALUE", "a value of a template's variable"),
          tag: texts("NAME=VALUE", "a tag of the provisioners that import it"),
          inactive: toggle("leave the active version as it is"),
          ...organization
        },
        run: async (input, session) => (await import("./templates/templates.js")).push(input, session)
      }),
      command({
        name: "pull",
        summary: "write the files of a template into a folder",
        args: { ...template, directory: optional("an empty folder; named as the template unless given", "file") },
        flags: { templateVersion: text("VERSION", "a version other than the active one") },
        run: async (input, session) => (await import("./templates/templates.js")).pull(input, session)
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
        run: async (input, session) => (await import("./templates/templates.js")).edit(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a template without workspaces",
        args: template,
        flags: yes,
        run: async (input, session) => (await import("./templates/templates.js")).removeTemplate(input, session)
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
        run: async (input, session) => (await import("./tasks/tasks.js")).listTasks(input, session)
      }),
      command({
        name: "create",
        summary: "create a task, and print its name",
        args: { input: optional("what is to be done; the standard input unless given") },
        flags: { template: text("TEMPLATE", "the template", { short: "t" }), name: text("NAME", "the task's name") },
        run: async (input, session) => (await import("./tasks/tasks.js")).createTask(input, session)
      }),
      command({
        name: "send",
        summary: "send a message to a task",
        args: { task: required("the task"), input: optional("the message; the standard input unless given") },
        run: async (input, session) => (await import("./tasks/tasks.js")).sendToTask(input, session)
      }),
      command({
        name: "logs",
        summary: "show the messages of a task",
        args: { task: required("the task") },
        run: async (input, session) => (await import("./tasks/tasks.js")).taskLogs(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a task with its workspace",
        args: { task: required("the task") },
        run: async (input, session) => (await import("./tasks/tasks.js")).removeTask(input, session)
      })
    ]
  }
]

const administration: ReadonlyArray<Command | Group> = [
  {
    name: "tokens",
    aliases: ["token"],
    summary: "tokens for programs",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list the tokens",
        flags: { all: toggle("those of other users too", { short: "a" }) },
        run: async (input, session) => (await import("./administration/tokens.js")).listTokens(input, session)
      }),
      command({
        name: "create",
        summary: "create a token, and print it this once",
        flags: {
          name: text("NAME", "the token's name"),
          lifetime: duration("when it expires"),
          scope: texts("SCOPE", "what it may do; everything unless given")
        },
        run: async (input, session) => (await import("./administration/tokens.js")).createToken(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "end a token",
        args: { token: required("the token's name or id") },
        run: async (input, session) => (await import("./administration/tokens.js")).removeToken(input, session)
      })
    ]
  },
  {
    name: "users",
    aliases: ["user"],
    summary: "the users of the service",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list users",
        flags: { search: text("QUERY", 'a search, such as "status:active"', { short: "s" }) },
        run: async (input, session) => (await import("./administration/users.js")).listUsers(input, session)
      }),
      command({
        name: "show",
        summary: "show a user",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("./administration/users.js")).showUser(input, session)
      }),
      command({
        name: "create",
        summary: "create a user with a password",
        args: { username: required("the username") },
        flags: {
          email: text("EMAIL", "the email address", { short: "e" }),
          name: text("NAME", "the full name"),
          passwordStdin: toggle("read the password from the standard input"),
          organization: texts("ORGANIZATION", "an organization of the user; the default one unless given")
        },
        run: async (input, session) => (await import("./administration/users.js")).createUser(input, session)
      }),
      command({
        name: "suspend",
        summary: "keep a user out",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("./administration/users.js")).suspendUser(input, session)
      }),
      command({
        name: "activate",
        summary: "let a suspended user in again",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("./administration/users.js")).activateUser(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a user",
        args: { user: required("the user's name or id") },
        flags: yes,
        run: async (input, session) => (await import("./administration/users.js")).removeUser(input, session)
      })
    ]
  },
  {
    name: "groups",
    aliases: ["group"],
    summary: "groups of users",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list groups",
        flags: { organization: text("ORGANIZATION", "of this organization alone") },
        run: async (input, session) => (await import("./administration/lists.js")).listGroups(input, session)
      }),
      command({
        name: "create",
        summary: "create a group",
        args: { group: required("the group's name") },
        flags: organization,
        run: async (input, session) => (await import("./administration/lists.js")).createGroup(input, session)
      }),
      command({
        name: "members",
        summary: "add users to a group, or remove them",
        args: { group: required("the group's name"), users: several("the users") },
        flags: { remove: toggle("remove them"), ...organization },
        run: async (input, session) => (await import("./administration/lists.js")).changeMembers(input, session)
      })
    ]
  },
  {
    name: "organizations",
    aliases: ["organization", "orgs"],
    summary: "the organizations of the service",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list the organizations",
        run: async (input, session) => (await import("./administration/lists.js")).listOrganizations(input, session)
      })
    ]
  },
  command({
    name: "audit",
    summary: "show who has changed what",
    flags: {
      search: text("QUERY", 'a search, such as "resource_type:template"', { short: "s" }),
      limit: whole("NUMBER", "how many; default 50")
    },
    run: async (input, session) => (await import("./administration/lists.js")).listAudit(input, session)
  }),
  {
    name: "notifications",
    aliases: ["inbox"],
    summary: "what the service tells you",
    commands: [
      command({
        name: "list",
        aliases: ["ls"],
        summary: "list notifications",
        flags: { unread: toggle("those that are unread", { short: "u" }) },
        run: async (input, session) => (await import("./administration/lists.js")).listNotifications(input, session)
      }),
      command({
        name: "read",
        summary: "mark all notifications as read",
        run: async (input, session) => (await import("./administration/lists.js")).readNotifications(input, session)
      })
    ]
  }
]

const others: ReadonlyArray<Command | Group> = [
  command({
    name: "server",
    summary: "run the server, where the package atelier is installed",
    words: "WORD",
    examples: ["atelier server serve --help"],
    run: async (input, session) => (await import("./connect/server.js")).server(input, session)
  }),
  command({
    name: "completion",
    summary: "print the completion of a shell",
    args: { shell: required("bash, zsh or fish") },
    examples: ["source <(atelier completion bash)", "atelier completion fish | source"],
    run: async (input, session) => (await import("./command/completion.js")).printCompletion(input, session)
  }),
  command({
    name: "complete",
    summary: "print names for the completion of a shell",
    args: { kind: required("workspaces") },
    isHidden: true,
    run: async (input, session) => (await import("./command/completion.js")).completeNames(input, session)
  }),
  command({
    name: "version",
    summary: "print the versions of the program and of the service",
    run: async (input, session) => (await import("./access/versions.js")).versions(input, session)
  })
]

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
