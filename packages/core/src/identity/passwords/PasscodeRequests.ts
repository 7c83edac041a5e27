import { type Context, Duration, Effect, Option, type Scope } from "effect"
import * as Access from "../../access/Access.js"
import type { CallInfo } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "../users/UserAudit.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import * as Background from "../../platform/background/Background.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Ids } from "../../platform/Ids.js"
import type { Locks } from "../../platform/store/Locks.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import { lockedAccount } from "../users/Account.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import { type Passcode, passcodeLifetime } from "./Passcode.js"
import type { PasscodeDelivery } from "./PasscodeDelivery.js"
import type { PasscodeHolder, PasscodeRepository } from "./PasscodeRepository.js"

/** How long the store's part of a request waits, so that the answer is gone before it begins. */
const afterTheAnswer = Duration.millis(20)

export const asHolder = ({ id, username }: PasscodeHolder, info: CallInfo) =>
  Access.actingAs({ ...SystemActor.systemRestricted, ...info, username, userId: id })

interface Needs {
  readonly repository: PasscodeRepository["Type"]
  readonly services: Context.Context<AuditRepository | Ids | Transactor | EventBus | Locks>
  readonly scope: Scope.Scope
  readonly ids: Ids["Type"]
  readonly delivery: PasscodeDelivery["Type"]
  readonly accounts: AccountRepository["Type"]
}

/** How a passcode is made and sent behind the answer, which takes as long for an unknown address. */
export const passcodeRequests = ({ repository, services, scope, ids, delivery, accounts }: Needs) => {
  /** Codes lead to a password, which accounts that log in otherwise have no use for. */
  const holderOf = (email: string): Effect.Effect<Option.Option<PasscodeHolder>> =>
    Effect.map(
      repository.holder(email),
      Option.filter(({ login_type }) => login_type === "password")
    )

  /** Runs behind the answer, which must not take longer for addresses that are known. */
  const behind = <E>(
    work: Effect.Effect<void, E, AuditRepository | Ids | Transactor | EventBus>,
    then: Effect.Effect<void, never, Locks> = Effect.void
  ) =>
    work.pipe(
      Effect.delay(afterTheAnswer),
      Effect.catchAllCause((cause) => Effect.logError("the work after an answer about a one-time passcode failed", cause)),
      Effect.uninterruptible,
      Effect.zipRight(then),
      Effect.provide(services),
      (effect) => Background.forkIn("passcode_request", scope, effect)
    )

  const store = (email: string, code: string, hashed_passcode: string, info: CallInfo) =>
    Effect.gen(function* () {
      const found = yield* holderOf(email)
      if (Option.isNone(found)) return
      const holder = found.value
      const now = yield* Timestamp.now
      const passcode: Passcode = {
        id: yield* ids.next,
        user_id: holder.id,
        hashed_passcode,
        expires_at: Timestamp.plus(now, passcodeLifetime)
      }
      const sealed = yield* delivery.seal(passcode, code)
      yield* Audit.audited(
        { action: "request_password_reset", resource: userAudit, id: holder.id, target: holder.username },
        Effect.gen(function* () {
          const account = yield* lockedAccount(accounts, holder.id)
          const former = Option.getOrNull(yield* repository.ofUser(holder.id))
          yield* repository.replace(passcode, sealed, now)
          return {
            value: undefined,
            before: { ...account, one_time_passcode_expires_at: former?.expires_at ?? null },
            after: { ...account, one_time_passcode_expires_at: passcode.expires_at }
          }
        })
      ).pipe(
        // The user was deleted in between
        Effect.catchTag("NotFound", () => Effect.void),
        asHolder(holder, info)
      )
    })

  return { holderOf, behind, store }
}
