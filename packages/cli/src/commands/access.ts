import { command, type Command, type Group, optional, required, text, texts, toggle } from "../command/Command.js"

/** The commands of logins. */
export const access: ReadonlyArray<Command | Group> = [
  command({
    name: "login",
    summary: "log in to a service, and use it from now on",
    description: [
      "Without options, the login goes through the browser. Its token may do what the user may, except to give credentials or rights: name scopes with --scope for more, or log in with a password or a token.",
      "--device is for a machine without a browser: the user enters a code on another one. Tokens of both ways are renewed by the program.",
      "Each login is a context. The token is kept in the system's key store (secret-tool on Linux, the keychain on macOS), or, without one, in a file that only the user can read."
    ],
    args: { url: optional("the service's address, such as https://dev.example.com") },
    flags: {
      name: text("NAME", "the name of the context; the host unless given"),
      email: text("EMAIL", "log in with this address and a password", { short: "e" }),
      passwordStdin: toggle("read the password from the standard input"),
      tokenStdin: toggle("read a token from the standard input"),
      browser: toggle("log in through the browser, also without a terminal"),
      device: toggle("log in with a code that is entered on another device"),
      noKeyStore: toggle("keep the token in a file, also where the system has a key store"),
      noOpen: toggle("print the address without opening it"),
      scope: texts("SCOPE", "a scope that a login by browser or by device asks for in addition")
    },
    examples: ["atelier login https://dev.example.com", "atelier login dev.example.com --token-stdin < token.txt"],
    run: async (input, session) => (await import("../access/login.js")).login(input, session)
  }),
  command({
    name: "logout",
    summary: "end the login and forget its token",
    run: async (input, session) => (await import("../access/account.js")).logout(input, session)
  }),
  command({
    name: "whoami",
    summary: "show the user who is logged in",
    run: async (input, session) => (await import("../access/account.js")).whoami(input, session)
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
        run: async (input, session) => (await import("../access/account.js")).listContexts(input, session)
      }),
      command({
        name: "use",
        summary: "use a context from now on",
        args: { name: required("the context", "context") },
        run: async (input, session) => (await import("../access/account.js")).useContext(input, session)
      }),
      command({
        name: "remove",
        aliases: ["rm"],
        summary: "forget a context without ending its token",
        args: { name: required("the context", "context") },
        run: async (input, session) => (await import("../access/account.js")).removeContext(input, session)
      })
    ]
  }
]
