import { Effect, Option, Redacted, type Scope } from "effect"
import * as Access from "../../access/Access.js"
import type { CallInfo } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "./ApiKeyAudit.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { Forbidden, refuseViolations, Unauthenticated, validationsOf } from "../../platform/Errors.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import type { ApiKeyRepository } from "./ApiKeyRepository.js"
import type { PasswordHasher } from "../passwords/PasswordHasher.js"
import { openSession } from "./SessionKey.js"
import { emailViolation, type User, type UserStatus } from "../users/User.js"
import type { UserRepository } from "../users/UserRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { inactive } from "./CredentialChecks.js"

type WithPassword = Pick<User, "id" | "updated_at"> & { readonly hashed_password: string | null }

const wrongLogin = new Unauthenticated({ message: "Incorrect e-mail address or password." })

interface Needs {
  readonly accounts: AccountRepository["Type"]
  readonly options: DeploymentOptions["Type"]
  readonly see: (user: Pick<User, "id" | "username" | "status">) => Effect.Effect<UserStatus>
  readonly keys: ApiKeyRepository["Type"]
  readonly hasher: PasswordHasher["Type"]
  readonly users: UserRepository["Type"]
  readonly isOnlyScheme: Effect.Effect<boolean>
  readonly scope: Scope.Scope
}

/** The login of a user with a password. */
export const passwordLogin = ({ accounts, options, see, keys, hasher, users, isOnlyScheme, scope }: Needs) => {
  /** Admits a known user with the right password: opens a session, unless the deployment or the account refuses. */
  const admit = ({ hashed_password, id, updated_at }: WithPassword) =>
    Effect.gen(function* () {
      // Verifying takes long. A password change in between has already ended the user's sessions. A concurrent login that only rehashed the
      // same password left the user's `updated_at` unchanged
      const [user] = yield* accounts.lock([id])
      const current = Option.getOrNull(yield* accounts.hashedPassword(id))
      if (user === undefined || (current !== hashed_password && user.updated_at !== updated_at)) return yield* wrongLogin
      if (options.disablePasswordAuth) return yield* new Forbidden({ message: "Password authentication is disabled." })
      if (user.login_type !== "password") {
        return yield* new Forbidden({ message: `This account does not log in with a password but with ${user.login_type || "none"}.` })
      }
      const status = yield* see(user)
      if (status !== "active") return yield* inactive(status)
      return yield* openSession({ accounts, keys }, options, { user_id: user.id, login_type: "password" })
    })

  /** Replaces an older kind of hash, now that the password is known. The user is logged in all the same where that fails. */
  const renewHash = ({ hashed_password, id }: WithPassword, password: Redacted.Redacted<string>) =>
    hashed_password === null || hasher.isCurrent(hashed_password)
      ? Effect.void
      : Effect.flatMap(hasher.hash(password), (next) => accounts.rehashPassword(id, hashed_password, next)).pipe(
          Effect.catchAllCause((cause) => Effect.logError("a password's hash could not be replaced", cause))
        )

  return {
    logIn: Traced.fn("Sessions.logIn")(function* (
      { email, password }: { readonly email: string; readonly password: Redacted.Redacted<string> },
      info: CallInfo
    ) {
      yield* refuseViolations(
        validationsOf({ email: emailViolation(email), password: Redacted.value(password) === "" ? "is required" : undefined })
      )

      const found = yield* users.byEmail(email)
      const hash = Option.match(found, { onNone: () => null, onSome: ({ hashed_password }) => hashed_password })
      const isRight = yield* hasher.verify(password, hash, yield* isOnlyScheme)
      if (Option.isNone(found)) return yield* wrongLogin

      const user = found.value
      const subject: Audit.Subject = { action: "login", resource: apiKeyAudit, id: user.id, target: "" }
      const asUser = Access.actingAs({ ...SystemActor.systemRestricted, ...info, username: user.username, userId: user.id })
      if (!isRight) {
        // Written after the answer, which would otherwise take longer for addresses that are known
        const recorded = Effect.uninterruptible(Audit.recordFailure(subject, Option.some(wrongLogin)))
        yield* asUser(Background.forkIn("failed_login", scope, recorded))
        return yield* wrongLogin
      }
      return yield* asUser(
        Audit.audited(
          subject,
          Effect.map(admit(user), (value) => ({ value }))
        ).pipe(Effect.tap(() => renewHash(user, password)))
      )
    })
  }
}
