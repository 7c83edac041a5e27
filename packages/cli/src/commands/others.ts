import { command, type Command, type Group, oneOf, required } from "../command/Command.js"

/** The commands about the program itself. */
export const others: ReadonlyArray<Command | Group> = [
  command({
    name: "server",
    summary: "run the server, where the package atelier is installed",
    words: "WORD",
    examples: ["atelier server serve --help"],
    run: async (input, session) => (await import("../connect/server.js")).server(input, session)
  }),
  command({
    name: "completion",
    summary: "print the completion of a shell",
    args: { shell: oneOf(["bash", "zsh", "fish"], "bash, zsh or fish") },
    examples: ["source <(atelier completion bash)", "atelier completion fish | source"],
    run: async (input, session) => (await import("../command/completion.js")).printCompletion(input, session)
  }),
  command({
    name: "complete",
    summary: "print names for the completion of a shell",
    args: { kind: required("workspaces, templates or contexts") },
    isHidden: true,
    run: async (input, session) => (await import("../command/completion.js")).completeNames(input, session)
  }),
  command({
    name: "version",
    summary: "print the versions of the program and of the service",
    run: async (input, session) => (await import("../access/versions.js")).versions(input, session)
  })
]
