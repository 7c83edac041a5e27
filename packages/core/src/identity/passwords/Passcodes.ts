import { Clock, Context, Duration, Effect, Option, Redacted } from "effect"
import type { CallInfo } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import { Forbidden, Invalid, refuseViolations, validationsOf } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import type { Locks } from "../../platform/store/Locks.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import { runOnce, type Worker } from "../../platform/background/Worker.js"
import { accountWrite, lockedAccount } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { isUsable, type Passcode } from "./Passcode.js"
import { PasscodeDelivery } from "./PasscodeDelivery.js"
import { type PasscodeHolder, PasscodeRepository } from "./PasscodeRepository.js"
import { violation } from "./Password.js"
import { PasswordHasher } from "./PasswordHasher.js"
import { emailViolation } from "../users/User.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { asHolder, passcodeRequests } from "./PasscodeRequests.js"

/** A code that was mailed, the account's address and the new password. Fields that are absent on the wire are empty here. */
export interface PasscodeUse {
  readonly email: string
  readonly one_time_passcode: Redacted.Redacted<string>
  readonly password: Redacted.Redacted<string>
}

/** Rows deleted in one statement. */
const purgeBatch = 1000

/** The methods of {@link Passcodes}. */
export interface PasscodesService {
  /** Whether the deployment can send codes. */
  readonly canLeave: boolean

  /**
   * Mails a code to the user with this address, in place of a former one. Succeeds in the same way and after the same time if no user has
   * the address: all work that depends on the address happens after the answer. Fails with `Invalid` if the text is not an address, and
   * with `Forbidden` if password logins are disabled. identity.md §6.5.
   */
  readonly request: (email: string, info: CallInfo) => Effect.Effect<undefined, Invalid | Forbidden>

  /**
   * Gives the user of an address another password for a code that was mailed there, which ends every session and deletes every token of
   * the user. A code is good for one password. Fails with `Invalid`, alike and after as long, for an unknown address and for a code that
   * is wrong, expired, used or replaced. identity.md §6.5.
   */
  readonly changePassword: (use: PasscodeUse, info: CallInfo) => Effect.Effect<undefined, Invalid | Forbidden, Auditing>

  /** Deletes codes that have expired, whether they were sent or not. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* PasscodeRepository
  const accounts = yield* AccountRepository
  const hasher = yield* PasswordHasher
  const delivery = yield* PasscodeDelivery
  const ids = yield* Ids
  const options = yield* DeploymentOptions
  const scope = yield* Effect.scope
  const services = yield* Effect.context<AuditRepository | Ids | Transactor | EventBus | Locks>()

  const wrongPasscode = new Invalid({ message: "The e-mail address or the one-time passcode is wrong, or the passcode has expired." })

  /** Stores the password that follows from a code, unless another caller was faster, or the code or the password has been replaced. */
  const use = (holder: PasscodeHolder, passcode: Passcode, next: string) =>
    Effect.gen(function* () {
      const account = yield* Effect.orElseFail(lockedAccount(accounts, holder.id), () => wrongPasscode)
      const present = Option.getOrUndefined(yield* repository.ofUser(holder.id))
      const current = Option.getOrNull(yield* accounts.hashedPassword(holder.id))
      const now = yield* Timestamp.now
      const isSame = present?.id === passcode.id && isUsable(present, Timestamp.toMillis(now)) && account.login_type === "password"
      if (!isSame || current !== holder.hashed_password) return yield* wrongPasscode
      yield* accounts.updatePassword(holder.id, next, now)
      return {
        value: undefined,
        before: { ...account, hashed_password: current, one_time_passcode_expires_at: passcode.expires_at },
        after: { ...account, hashed_password: next, one_time_passcode_expires_at: null }
      }
    })

  const { holderOf, behind, store } = passcodeRequests({ repository, services, scope, ids, delivery, accounts })

  return {
    canLeave: delivery.canLeave,

    request: Traced.fn("Passcodes.request")(function* (email: string, info: CallInfo) {
      yield* refuseViolations(validationsOf({ email: emailViolation(email) }))
      if (options.disablePasswordAuth) return yield* new Forbidden({ message: "Password authentication is disabled." })
      const code = yield* ids.secret
      const hash = yield* hasher.hash(Redacted.make(code))
      yield* behind(store(email, code, hash, info), runOnce(delivery.worker))
    }),

    changePassword: Traced.fn("Passcodes.changePassword")(function* ({ email, one_time_passcode, password }: PasscodeUse, info: CallInfo) {
      yield* refuseViolations(
        validationsOf({
          email: emailViolation(email),
          one_time_passcode: Redacted.value(one_time_passcode) === "" ? "is required" : undefined,
          password: Redacted.value(password) === "" ? "is required" : undefined
        })
      )
      if (options.disablePasswordAuth) return yield* new Forbidden({ message: "Password authentication is disabled." })
      const weakness = violation(Redacted.value(password))
      if (weakness !== undefined) return yield* Invalid.field("password", weakness, "The password is not strong enough.")

      const found = yield* holderOf(email)
      const now = yield* Clock.currentTimeMillis
      const passcode = Option.getOrNull(
        Option.filter(
          Option.flatMapNullable(found, ({ passcode }) => passcode),
          (stored) => isUsable(stored, now)
        )
      )
      const isRight = yield* hasher.verify(one_time_passcode, passcode?.hashed_passcode ?? null)
      if (Option.isNone(found)) return yield* wrongPasscode
      const holder = found.value
      const subject = accountWrite(holder)
      if (passcode === null || !isRight) {
        yield* behind(Audit.recordFailure(subject, Option.some(wrongPasscode)).pipe(asHolder(holder, info)))
        return yield* wrongPasscode
      }
      yield* Effect.gen(function* () {
        if (yield* hasher.verify(password, holder.hashed_password)) {
          const same = new Invalid({ message: "New password cannot match old password." })
          yield* Audit.recordFailure(subject, Option.some(same))
          return yield* same
        }
        // A hash takes too long for a transaction
        const next = yield* hasher.hash(password)
        yield* Audit.audited(subject, use(holder, passcode, next))
      }).pipe(asHolder(holder, info))
    }),

    purge: {
      name: "purge_one_time_passcodes",
      every: Duration.minutes(1),
      run: Effect.flatMap(Timestamp.now, (now) => untilNotFull(purgeBatch, (limit) => repository.purge(now, limit))).pipe(Effect.asVoid)
    }
  }
})

/** Password resets by mail, for users who receive mail at their account's address. */
export class Passcodes extends Context.Tag("@atelier/core/Passcodes")<Passcodes, PasscodesService>() {
  static readonly layer = standingOn(service(Passcodes, make), PasscodeDelivery.layer)
}
