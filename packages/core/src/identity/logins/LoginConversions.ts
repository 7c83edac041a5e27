import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import * as Audit from "../../audit/Audit.js"
import { Deployment } from "../../deployment/Deployment.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { Cryptography, randomAlphanumeric } from "../../platform/Cryptography.js"
import { Encryption } from "../../platform/Encryption.js"
import { Forbidden, Invalid, Unauthenticated, type Validation } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { conversionPrefix, type LoginConversion, sealConversion } from "./LoginConversion.js"
import { LoginProviders, providerOf } from "./LoginProvider.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import { isExternalLoginType } from "./UserLink.js"
import { Users } from "../users/Users.js"

/** How long a conversion may take. */
const lifetime = Duration.minutes(5)

/** Characters of a state behind its prefix. */
const stateLength = 32

/** A conversion that has begun, and the text that the browser brings back with the state. */
export interface BegunConversion extends Pick<LoginConversion, "state_string" | "expires_at" | "user_id" | "to_login_type"> {
  readonly token: Redacted.Redacted<string>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const hasher = yield* PasswordHasher
  const options = yield* DeploymentOptions
  const providers = yield* LoginProviders
  const deployment = yield* Deployment
  const services = yield* Effect.context<Cryptography | Encryption>()

  return {
    /**
     * Lets whoever knows a user's password go to a provider and have the user log in through it ever after. Fails with `Invalid` for
     * what is no such provider, `Unauthenticated` for a wrong password and `Forbidden` for a user who does not log in with one.
     * identity.md §6.6.
     */
    begin: Effect.fn("LoginConversions.begin")(function* (
      reference: string,
      { password, to_type }: { readonly password: Redacted.Redacted<string>; readonly to_type: string }
    ) {
      const validations: Array<Validation> = []
      if (to_type === "") validations.push({ field: "to_type", detail: "is required" })
      if (Redacted.value(password) === "") validations.push({ field: "password", detail: "is required" })
      if (validations.length > 0) return yield* new Invalid({ message: "Validation failed.", validations })
      if (!isExternalLoginType(to_type)) return yield* Invalid.field("to_type", "must be github or oidc")
      if (providerOf(providers, to_type) === undefined) return yield* Invalid.field("to_type", "is not offered by this deployment")

      const user = yield* users.get(reference)
      const subject: Audit.Subject = { action: "create", type: "convert_login", id: user.id, target: user.username }
      const isRight = yield* hasher.verify(password, Option.getOrNull(yield* accounts.hashedPassword(user.id)))
      return yield* Audit.audited(
        subject,
        Effect.gen(function* () {
          if (!isRight) return yield* new Unauthenticated({ message: "Incorrect e-mail address or password." })
          if (options.disable_password_auth) return yield* new Forbidden({ message: "Password authentication is disabled." })
          if (user.login_type !== "password") {
            return yield* new Forbidden({ message: `This account does not log in with a password but with ${user.login_type || "none"}.` })
          }
          if (user.status === "suspended") return yield* new Unauthenticated({ message: "Your account is suspended." })
          const now = yield* Timestamp.now
          const conversion: LoginConversion = {
            issuer: deployment.id,
            state_string: `${conversionPrefix}${yield* randomAlphanumeric(stateLength)}`,
            user_id: user.id,
            from_login_type: user.login_type,
            to_login_type: to_type,
            not_before: Timestamp.minus(now, "1 second"),
            expires_at: Timestamp.plus(now, lifetime)
          }
          const value: BegunConversion = { ...conversion, token: Redacted.make(yield* sealConversion(conversion)) }
          return { value, after: { ...conversion, created_at: now } }
        }).pipe(Effect.provide(services))
      )
    })
  }
})

/** Users who change how they log in. */
export class LoginConversions extends Context.Tag("@atelier/core/LoginConversions")<
  LoginConversions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(LoginConversions, make)
}
