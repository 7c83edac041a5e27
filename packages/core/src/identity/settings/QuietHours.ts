import { Context, Effect, Either } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { Forbidden, Invalid, type NotFound } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { accountWrite, lockedAccount } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { formatQuietHours, nextStart, parseQuietHours, timeOfDay } from "./QuietHoursSchedule.js"
import type { User } from "../users/User.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"

/** The quiet hours of a user, or the deployment's: `next` is when they begin next, `time` and `timezone` when they begin each day. */
export interface QuietHoursView {
  readonly raw_schedule: string
  readonly user_set: boolean
  readonly user_can_set: boolean
  readonly time: string
  readonly timezone: string
  readonly next: Timestamp.Timestamp
}

/** The methods of {@link QuietHours}. */
export interface QuietHoursService {
  /** The quiet hours of a user: its own, or the deployment's. */
  readonly get: (reference: string) => Effect.Effect<QuietHoursView, Forbidden | NotFound, CurrentActor>

  /**
   * Changes a user's quiet hours; blank text restores the deployment's. Deadlines of builds stay. Fails with `NotFound` if the actor may
   * not change the user's personal data, and with `Forbidden` if users may not set their own hours. identity.md §8.8.
   */
  readonly change: (
    reference: string,
    text: string
  ) => Effect.Effect<QuietHoursView, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const { allowCustomQuietHours, defaultQuietHoursSchedule } = yield* DeploymentOptions

  const viewOf = ({ quiet_hours_schedule }: Pick<User, "quiet_hours_schedule">) =>
    Effect.gen(function* () {
      const user_set = allowCustomQuietHours && quiet_hours_schedule !== ""
      const parsed = parseQuietHours(user_set ? quiet_hours_schedule : defaultQuietHoursSchedule)
      if (Either.isLeft(parsed)) return yield* new Forbidden({ message: "The deployment has no quiet hours." })
      const { right: schedule } = parsed
      return {
        raw_schedule: formatQuietHours(schedule),
        user_set,
        user_can_set: allowCustomQuietHours,
        time: timeOfDay(schedule),
        timezone: schedule.zone,
        next: nextStart(schedule, yield* Timestamp.now)
      }
    })

  return {
    get: Traced.fn("QuietHours.get")(function* (reference: string) {
      yield* requireFeature("advanced_template_scheduling")
      return yield* viewOf(yield* users.get(reference))
    }),

    change: Traced.fn("QuietHours.change")(function* (reference: string, text: string) {
      yield* requireFeature("advanced_template_scheduling")
      const user = yield* users.get(reference)
      return yield* Audit.audited(
        accountWrite(user),
        Effect.gen(function* () {
          const before = yield* lockedAccount(accounts, user.id)
          yield* Access.authorizeOrHide("update_personal", AccessObjects.user(before))
          if (text === "") return yield* Invalid.field("schedule", "is required")
          if (!allowCustomQuietHours) return yield* new Forbidden({ message: "Users have no quiet hours of their own." })
          const parsed = text.trim() === "" ? undefined : parseQuietHours(text)
          if (parsed !== undefined && Either.isLeft(parsed)) return yield* Invalid.field("schedule", parsed.left)
          const quiet_hours_schedule = parsed === undefined ? "" : formatQuietHours(parsed.right)
          const after: User = { ...before, quiet_hours_schedule, updated_at: yield* Timestamp.now }
          yield* accounts.updateQuietHours(after)
          return { value: yield* viewOf(after), before, after }
        })
      )
    })
  }
})

/** When workspaces of users may be stopped. */
export class QuietHours extends Context.Tag("@atelier/core/QuietHours")<QuietHours, QuietHoursService>() {
  static readonly layer = standingOn(service(QuietHours, make), Users.layer)
}
