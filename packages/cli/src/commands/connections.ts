import { choice, command, type Command, duration, type Group, required, several, text, texts, toggle, whole } from "../command/Command.js"
import { parameters, reached, runs } from "./arguments.js"

/** The commands that work in a workspace. */
export const connections: ReadonlyArray<Command | Group> = [
  command({
    name: "ssh",
    summary: "open a shell in a workspace, or run a line of the shell",
    description: [
      "The shell outlives a lost connection: the program connects again. On a terminal, ~ at the beginning of a line is for the program: ~. leaves a shell whose connection is stuck, ~^Z stops the program, ~? lists these keys, and ~~ sends a ~.",
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
        ? (await import("../connect/sshStream.js")).stdio(input, session)
        : (await import("../connect/exec.js")).shell(input, session)
  }),
  command({
    name: "exec",
    summary: "run a command in a workspace, and end with its exit code",
    description: [
      "The standard input is piped to the command. If both sides are a terminal, the command gets one. A process that the command starts in the background goes on after it."
    ],
    args: reached,
    words: "COMMAND",
    flags: { ...runs, timeout: duration("end the command after this time") },
    examples: ["atelier exec first -- make test", "cat notes.txt | atelier exec first wc -l"],
    run: async (input, session) => (await import("../connect/exec.js")).exec(input, session)
  }),
  command({
    name: "cp",
    summary: "copy files and directories from or into a workspace",
    description: [
      "A file of a workspace is WORKSPACE:PATH; a relative path begins at the agent's directory. - is the standard input or output. A copy of a file that was interrupted goes on where it was, both ways, as long as the file is the same."
    ],
    args: { paths: several("the sources and the target", "file") },
    examples: ["atelier cp notes.txt first:", "atelier cp first:project/ .", "atelier cp first:data.csv -"],
    run: async (input, session) => (await import("../files/copy.js")).copy(input, session)
  }),
  command({
    name: "port-forward",
    aliases: ["forward"],
    summary: "reach ports of a workspace on this machine",
    description: ["Only TCP is forwarded. Local port 0 takes a free one."],
    args: { ...reached, ports: several("PORT, LOCAL:PORT or ADDRESS:LOCAL:PORT") },
    examples: ["atelier port-forward first 8080 3001:3000"],
    run: async (input, session) => (await import("../connect/portForward.js")).portForward(input, session)
  }),
  command({
    name: "config-ssh",
    summary: "let OpenSSH and editors reach workspaces by name",
    description: [
      "The hosts are WORKSPACE.atelier, WORKSPACE.OWNER.atelier and AGENT.WORKSPACE.OWNER.atelier. They are in a file of the program's own, and the user's configuration gets one Include line."
    ],
    flags: {
      suffix: text("SUFFIX", "the end of the names of hosts, one for each service; default atelier"),
      sshConfig: text("FILE", "the user's configuration; default ~/.ssh/config", { kind: "file" }),
      dryRun: toggle("show what would change"),
      remove: toggle("undo it")
    },
    examples: ["atelier config-ssh", "ssh first.atelier"],
    run: async (input, session) => (await import("../connect/configSsh.js")).configSsh(input, session)
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
    run: async (input, session) => (await import("../files/sync.js")).sync(input, session)
  }),
  command({
    name: "socks",
    summary: "run a SOCKS5 proxy to the ports of a workspace",
    description: [
      "The proxy listens on this machine alone. It leads to the workspace and no further, under the names localhost and WORKSPACE."
    ],
    args: reached,
    flags: { port: whole("PORT", "where it listens; default 1080, and 0 takes a free one") },
    run: async (input, session) => (await import("../connect/socksProxy.js")).socksProxy(input, session)
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
          "An image needs a template with the parameter image. The output is the command's, and so is the exit code. The service deletes the workspace after an hour, or the given time, if the program is gone by then."
        ],
        args: { template: required("a template, or an image such as node:22", "template") },
        words: "COMMAND",
        flags: {
          ...parameters,
          ...runs,
          deleteAfter: duration("when the service deletes it at the latest"),
          keep: toggle("do not delete it; with --delete-after, the service still does")
        },
        examples: ["atelier sandbox run shell -- sh -c 'uname -a'"],
        run: async (input, session) => (await import("../connect/exec.js")).runSandbox(input, session)
      })
    ]
  }
]
