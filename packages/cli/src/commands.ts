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

const others: ReadonlyArray<Command | Group> = [
  command({
    name: "version",
    summary: "print the versions of the program and of the service",
    run: async (input, session) => (await import("./access/versions.js")).versions(input, session)
  })
]

export const commands: ReadonlyArray<Command | Group> = [...access, ...workspaces, ...connections, ...others]

const namesOf = (entries: ReadonlyArray<Command | Group>): ReadonlyArray<string> => entries.map(({ name }) => name)

/** The parts of the overview. */
export const sections: ReadonlyArray<Section> = [
  { title: "Login", names: namesOf(access) },
  { title: "Workspaces", names: namesOf(workspaces) },
  { title: "Work in a workspace", names: namesOf(connections) },
  { title: "More", names: namesOf(others) }
]
