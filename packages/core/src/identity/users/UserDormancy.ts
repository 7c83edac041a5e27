/** Users not seen for a long time become dormant and no longer count for the license. identity.md §9. */
import { Context, Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "./UserAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import { transaction } from "../../platform/store/Transactor.js"
import { accountWrite } from "./Account.js"
import { DormancyRepository } from "./DormancyRepository.js"
import type { User, UserId, UserStatus } from "./User.js"
import { UserRepository } from "./UserRepository.js"
import { statusAfter, statusTransitions } from "./UserStatus.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Ids } from "../../platform/Ids.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import type { Auditing } from "../../audit/Audit.js"
import type { Worker } from "../../platform/background/Worker.js"

/** How long an active user may stay unseen. */
const unseenFor = Duration.days(90)

/** Users of one transaction. */
const batchSize = 200

/** The audit entry of a status that the service itself changes. notifications-audit-insights.md §B1. */
const automaticStatusChange = (
  user: Parameters<typeof accountWrite>[0],
  before: UserStatus,
  after: UserStatus,
  options: { readonly brand: string }
) =>
  Audit.record({
    ...accountWrite(user),
    resource: userAudit.part("status"),
    status_code: 200,
    before: { status: before },
    after: { status: after },
    user_id: user.id,
    additional_fields: { automatic_actor: options.brand.toLowerCase(), automatic_subsystem: "dormancy" }
  })

/** A run of the worker. */
interface Run {
  /** Users who became dormant in it. */
  lapsed: number
  /** Users that it left out: their change failed, they are locked, or they have been active since. */
  readonly passedOver: Array<UserId>
}

const counted = (run: Run, count: number): Effect.Effect<void> =>
  Effect.sync(() => {
    run.lapsed += count
  })

/** The methods of {@link UserDormancy}. */
export interface UserDormancyService {
  /**
   * Makes a dormant user active because it is seen. Returns the user's status afterwards, which is `suspended` for a user that may not be
   * seen. Runs in the caller's transaction. identity.md §9.
   */
  readonly see: (
    user: Pick<User, "id" | "username" | "status">
  ) => Effect.Effect<"active" | "dormant" | "suspended", never, CurrentActor | EventBus | Ids | AuditRepository>

  /** Makes active users dormant that have not been seen for 90 days, batch by batch. */
  readonly worker: Worker<Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* DormancyRepository
  const users = yield* UserRepository
  const options = yield* DeploymentOptions

  const lapse = (which: Parameters<DormancyRepository["Type"]["lapse"]>[2]) =>
    transaction(
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        const lapsed = yield* repository.lapse(Timestamp.minus(now, unseenFor), now, which)
        yield* Effect.forEach(lapsed, (user) => automaticStatusChange(user, "active", statusTransitions.active.lapse, options), {
          discard: true
        })
        return lapsed.length
      })
    )

  /** Those of a batch one by one. Returns how many were due, which tells whether the batch was full. */
  const lapseEach = (run: Run, limit: number) =>
    Effect.gen(function* () {
      const due = yield* repository.unseen(Timestamp.minus(yield* Timestamp.now, unseenFor), limit, run.passedOver)
      yield* Background.each("user_dormancy", due, (only) => {
        const passOver = Effect.sync(() => void run.passedOver.push(only))
        return lapse({ only }).pipe(
          Effect.tapErrorCause(() => passOver),
          Effect.flatMap((count) => (count === 0 ? passOver : counted(run, count)))
        )
      })
      return due.length
    })

  /** A user with whom it fails keeps no others of the batch from it. */
  const lapseBatch = (run: Run, limit: number) =>
    lapse({ limit, except: run.passedOver }).pipe(
      Effect.tap((count) => counted(run, count)),
      Effect.catchAllCause((cause) => (Option.isSome(storeUnavailable(cause)) ? Effect.failCause(cause) : lapseEach(run, limit)))
    )

  return {
    see: Traced.fn("UserDormancy.see")(function* (user: Pick<User, "id" | "username" | "status">) {
      const after = statusAfter(user.status, "see")
      if (after === undefined || after === user.status) return user.status
      if (yield* repository.wake(user.id, yield* Timestamp.now)) {
        yield* automaticStatusChange(user, user.status, after, options)
        return after
      }
      // A concurrent request activated or suspended the user
      const { status } = yield* Effect.flatMap(users.byId(user.id), Effect.orDie)
      return status
    }),

    worker: {
      name: "user_dormancy",
      every: Duration.minutes(15),
      run: Effect.gen(function* () {
        yield* Access.authorize("update", AccessObjects.bare("user"))
        const run: Run = { lapsed: 0, passedOver: [] }
        yield* untilNotFull(batchSize, (limit) => lapseBatch(run, limit))
        if (run.lapsed > 0) yield* Effect.logInfo(`${run.lapsed} users became dormant: they were not seen for 90 days`)
      }).pipe(Effect.orDie, Access.actingAs(SystemActor.systemRestricted))
    }
  }
})

/** Dormancy of users who have not been seen for a long time. */
export class UserDormancy extends Context.Tag("@atelier/core/UserDormancy")<UserDormancy, UserDormancyService>() {
  static readonly layer = service(UserDormancy, make)
}
