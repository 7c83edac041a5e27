import { Context, Duration, Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { audited, auditedResource, auditedTime, ignored } from "../../audit/AuditedResource.js"
import { Deployment } from "../../deployment/Deployment.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography, randomAlphanumeric } from "../../platform/secrets/Cryptography.js"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { Forbidden, Invalid, refuseViolations, Unauthenticated, validationsOf, type NotFound } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { ApiKeyRepository } from "../sessions/ApiKeyRepository.js"
import { accountWrite } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import type { User } from "../users/User.js"
import { conversionPrefix, type LoginConversion, openConversion, sealConversion } from "./LoginConversion.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import { type ExternalLoginType, isExternalLoginType } from "./UserLink.js"
import { UserLinkRepository } from "./UserLinkRepository.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Ids } from "../../platform/Ids.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import type { Auditing } from "../../audit/Audit.js"

const conversionAudit = auditedResource<LoginConversion & { readonly created_at: Timestamp.Timestamp }>({
  type: "convert_login",
  endsRightsOf: "user",
  fields: {
    issuer: ignored,
    state_string: ignored,
    user_id: audited,
    from_login_type: audited,
    to_login_type: audited,
    created_at: auditedTime,
    not_before: ignored,
    expires_at: auditedTime
  }
})

/** How long a conversion may take. */
const lifetime = Duration.minutes(5)

/** Characters of a state behind its prefix. */
const stateLength = 32

/** A browser that returns from the provider to complete a conversion. */
export interface ConversionReturn {
  /** The cookie of the browser. */
  readonly token: string | undefined
  readonly state: string
  /** The session that the browser has. */
  readonly apiKeyId: string | undefined
}

/** A conversion that has begun, and the text that the browser brings back with the state. */
export interface BegunConversion extends Pick<LoginConversion, "state_string" | "expires_at" | "user_id" | "to_login_type"> {
  readonly token: Redacted.Redacted<string>
}

/** The methods of {@link LoginConversions}. */
export interface LoginConversionsService {
  /**
   * Lets a user who gives the password go to a provider and log in through it from then on. Fails with `Invalid` for an unknown
   * provider, `Unauthenticated` for a wrong password, and `Forbidden` for another user than the actor or one without a password.
   * identity.md §6.6.
   */
  readonly begin: (
    reference: string,
    input: { readonly password: Redacted.Redacted<string>; readonly to_type: string }
  ) => Effect.Effect<BegunConversion, Invalid | Unauthenticated | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Checks that the browser's cookie permits the conversion of the user. Fails with `Invalid` if the cookie is missing, cannot be read or
   * has expired, and with `Forbidden` if it belongs to another account or the conversion has already been completed. identity.md §6.6.
   */
  readonly requirePermitted: (
    user: User,
    type: ExternalLoginType,
    input: Pick<ConversionReturn, "state" | "token">
  ) => Effect.Effect<undefined, Invalid | Forbidden>

  /** Has the user log in through the provider from now on, and ends the session that the browser has of the user. */
  readonly complete: (
    user: User,
    type: ExternalLoginType,
    input: Pick<ConversionReturn, "apiKeyId">
  ) => Effect.Effect<void, never, CurrentActor | EventBus | Ids | AuditRepository>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const hasher = yield* PasswordHasher
  const options = yield* DeploymentOptions
  const deployment = yield* Deployment
  const links = yield* UserLinkRepository
  const keys = yield* ApiKeyRepository
  const services = yield* Effect.context<Cryptography | Encryption>()

  return {
    begin: Traced.fn("LoginConversions.begin")(function* (
      reference: string,
      { password, to_type }: { readonly password: Redacted.Redacted<string>; readonly to_type: string }
    ) {
      yield* Access.refuseApps
      const user = yield* users.get(reference)
      yield* refuseViolations(
        validationsOf({
          to_type: to_type === "" ? "is required" : undefined,
          password: Redacted.value(password) === "" ? "is required" : undefined
        })
      )
      if (!isExternalLoginType(to_type)) return yield* Invalid.field("to_type", "must be github or oidc")

      const subject = { action: "create", resource: conversionAudit, id: user.id, target: user.username } as const
      const isRight = yield* hasher.verify(password, Option.getOrNull(yield* accounts.hashedPassword(user.id)))
      return yield* Audit.audited(
        subject,
        Effect.gen(function* () {
          if (!isRight) return yield* new Unauthenticated({ message: "Incorrect e-mail address or password." })
          if (user.id !== (yield* CurrentActor).userId) {
            return yield* new Forbidden({ message: "Only the user itself can change how it logs in." })
          }
          if (options.disablePasswordAuth) return yield* new Forbidden({ message: "Password authentication is disabled." })
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
    }),

    requirePermitted: Traced.fn("LoginConversions.requirePermitted")(function* (
      user: User,
      type: ExternalLoginType,
      { state, token }: Pick<ConversionReturn, "state" | "token">
    ) {
      if (token === undefined || token === "") {
        return yield* new Invalid({ message: "The cookie that permits the conversion is missing. Begin again." })
      }
      const opened = yield* openConversion(token)
      const now = yield* Timestamp.now
      if (Option.isNone(opened) || opened.value.expires_at < now || opened.value.not_before > now) {
        return yield* new Invalid({ message: "The conversion is invalid or has expired. Begin again." })
      }
      const { from_login_type, issuer, state_string, to_login_type, user_id } = opened.value
      const isPermitted =
        issuer === deployment.id &&
        state_string === state &&
        user_id === user.id &&
        from_login_type === user.login_type &&
        to_login_type === type
      if (!isPermitted) return yield* new Forbidden({ message: "The conversion belongs to another account, or has been completed." })
    }, Effect.provide(services)),

    complete: Traced.fn("LoginConversions.complete")(function* (
      user: User,
      type: ExternalLoginType,
      { apiKeyId }: Pick<ConversionReturn, "apiKeyId">
    ) {
      const { success } = yield* Audit.AuditStatus
      yield* links.convert(user.id, type, yield* Timestamp.now)
      if (apiKeyId !== undefined) {
        const key = yield* keys.byId(apiKeyId)
        if (Option.isSome(key) && key.value.user_id === user.id) yield* keys.delete(apiKeyId)
      }
      yield* Audit.record({
        ...accountWrite(user),
        status_code: success,
        before: { ...user, hashed_password: "before" },
        after: { ...user, login_type: type, hashed_password: null }
      })
    })
  }
})

/** Users who change how they log in. */
export class LoginConversions extends Context.Tag("@atelier/core/LoginConversions")<LoginConversions, LoginConversionsService>() {
  static readonly layer = standingOn(service(LoginConversions, make), Users.layer, Deployment.layer)
}
