/** Sets the password of a user where no owner can log in: `atelier reset-password USER`. */
import { Access, sessionActor } from "@atelier/core/access"
import { valueOf } from "@atelier/core/deployment"
import { ownerRole, UserPasswords, UserRepository } from "@atelier/core/identity"
import { Ids, NotFound, Uuid } from "@atelier/core/platform"
import { Argon2Hasher, NodeCryptography, NodeEncryption, NodeSshKeyGenerator } from "@atelier/node"
import { Effect, Layer, Logger, LogLevel, Option, Redacted } from "effect"
import { UsageError } from "./Options.js"
import { onDatabase } from "./onDatabase.js"
import { printed } from "./printed.js"
import { secretInput } from "./secretInput.js"
import { requireDatabase, storageOf } from "./storage.js"

const usage = "reset-password USER"

/** A person who can open the database acts with the rights of an owner. */
const operator = {
  ...sessionActor({ userId: Uuid.nil, siteRoles: [ownerRole], memberships: [], groupIds: [] }),
  userAgent: "atelier reset-password"
}

/** The reference of a user in calls of the core, which know no email address. Names have no "@". */
const referenceOf = (user: string) =>
  user.includes("@")
    ? Effect.flatMap(UserRepository, (users) => users.byEmail(user)).pipe(
        Effect.flatMap(Option.match({ onNone: () => new NotFound({ resource: "user" }), onSome: ({ id }) => Effect.succeed(id) }))
      )
    : Effect.succeed(user)

/** Sets the password, and returns the exit code. */
export const run = ([user = "", ...words]: ReadonlyArray<string>): Promise<number> =>
  onDatabase(user.startsWith("-") ? [user, ...words] : words, {
    usage,
    help: `Sets the password of a user, by name or email address, and ends the user's sessions. It asks for the password at a terminal, and reads it from its
input otherwise. A database file is free only while no server uses it.`,
    run: async (options) => {
      if (user === "" || user.startsWith("-")) throw new UsageError(`The user is missing: ${usage}`)
      requireDatabase(options)
      const keys = valueOf(options.configuration, "external-token-encryption-keys").map(NodeEncryption.parseKey)
      const services = UserPasswords.layer.pipe(
        Layer.provideMerge(Layer.mergeAll(NodeEncryption.layer(keys), NodeSshKeyGenerator.layer)),
        Layer.provideMerge(Layer.mergeAll(Ids.layer, Argon2Hasher.layer, await storageOf(options))),
        Layer.provideMerge(NodeCryptography.layer)
      )
      const password = Redacted.make(await secretInput(`New password of ${user}: `))
      const changed = Effect.flatMap(Effect.all([UserPasswords, referenceOf(user)]), ([passwords, reference]) =>
        passwords.change(reference, { password, old_password: Redacted.make("") })
      )
      return Effect.runPromise(
        changed.pipe(
          Access.actingAs(operator),
          Effect.as({ code: 0, message: `The password of ${user} is changed\n` }),
          Effect.catchTags({
            NotFound: () => Effect.succeed({ code: 1, message: `There is no user ${JSON.stringify(user)}\n` }),
            Invalid: ({ message, validations }) =>
              Effect.succeed({
                code: 1,
                message: [message, ...(validations ?? []).map(({ detail, field }) => `  ${field}: ${detail}`), ""].join("\n")
              }),
            Forbidden: ({ message }) => Effect.succeed({ code: 1, message: `${message}\n` }),
            Conflict: ({ message }) => Effect.succeed({ code: 1, message: `${message}\n` })
          }),
          Effect.flatMap(({ code, message }) => {
            if (code === 0) return Effect.promise(() => printed(message))
            process.stderr.write(message)
            return Effect.succeed(code)
          }),
          Effect.provide(services),
          Logger.withMinimumLogLevel(LogLevel.Warning)
        )
      )
    }
  })
