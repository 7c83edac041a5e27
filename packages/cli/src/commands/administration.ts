import { command, type Command, duration, type Group, required, several, text, texts, toggle, whole } from "../command/Command.js"
import { organization, yes } from "./arguments.js"

/** The commands of administration. */
export const administration: ReadonlyArray<Command | Group> = [
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
        run: async (input, session) => (await import("../administration/tokens.js")).listTokens(input, session)
      }),
      command({
        name: "create",
        summary: "create a token, and print it this once",
        flags: {
          name: text("NAME", "the token's name"),
          lifetime: duration("when it expires"),
          scope: texts("SCOPE", "what it may do; everything unless given")
        },
        run: async (input, session) => (await import("../administration/tokens.js")).createToken(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "end a token",
        args: { token: required("the token's name or id") },
        run: async (input, session) => (await import("../administration/tokens.js")).removeToken(input, session)
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
        run: async (input, session) => (await import("../administration/users.js")).listUsers(input, session)
      }),
      command({
        name: "show",
        summary: "show a user",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("../administration/users.js")).showUser(input, session)
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
        run: async (input, session) => (await import("../administration/users.js")).createUser(input, session)
      }),
      command({
        name: "suspend",
        summary: "keep a user out",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("../administration/users.js")).suspendUser(input, session)
      }),
      command({
        name: "activate",
        summary: "let a suspended user in again",
        args: { user: required("the user's name or id") },
        run: async (input, session) => (await import("../administration/users.js")).activateUser(input, session)
      }),
      command({
        name: "delete",
        aliases: ["rm"],
        summary: "delete a user",
        args: { user: required("the user's name or id") },
        flags: yes,
        run: async (input, session) => (await import("../administration/users.js")).removeUser(input, session)
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
        run: async (input, session) => (await import("../administration/lists.js")).listGroups(input, session)
      }),
      command({
        name: "create",
        summary: "create a group",
        args: { group: required("the group's name") },
        flags: organization,
        run: async (input, session) => (await import("../administration/lists.js")).createGroup(input, session)
      }),
      command({
        name: "members",
        summary: "add users to a group, or remove them",
        args: { group: required("the group's name"), users: several("the users") },
        flags: { remove: toggle("remove them"), ...organization },
        run: async (input, session) => (await import("../administration/lists.js")).changeMembers(input, session)
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
        run: async (input, session) => (await import("../administration/lists.js")).listOrganizations(input, session)
      })
    ]
  },
  command({
    name: "audit",
    summary: "show who has changed what",
    flags: {
      search: text("QUERY", 'a search, such as "resource_type:template"', { short: "s" }),
      limit: whole("NUMBER", "how many; default 50, 0 for all")
    },
    run: async (input, session) => (await import("../administration/lists.js")).listAudit(input, session)
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
        run: async (input, session) => (await import("../administration/lists.js")).listNotifications(input, session)
      }),
      command({
        name: "read",
        summary: "mark all notifications as read",
        run: async (input, session) => (await import("../administration/lists.js")).readNotifications(input, session)
      })
    ]
  }
]
