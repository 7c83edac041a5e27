import { Context, Effect, Option } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import { Notifications } from "../../notifications/Notifications.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ownerRole, type User } from "./User.js"
import { UserRepository } from "./UserRepository.js"

type Account = Pick<User, "id" | "username" | "name" | "email">

/** Holders of the site roles that manage users. */
const administrators = ["user-admin", ownerRole]

/** The initiator of accounts that a login provider vouches for. */
const bySignup = "oauth"

/** The methods of {@link AccountNotifications}. */
export interface AccountNotificationsService {
  /** The actor has created an account. */
  readonly created: (user: Account) => Effect.Effect<void, never, CurrentActor>

  /** A user of a login provider has an account now. */
  readonly signedUp: (user: Account) => Effect.Effect<void>

  /** The actor has deleted an account. */
  readonly deleted: (user: Account) => Effect.Effect<void, never, CurrentActor>

  /** The actor has suspended an account: its user is told too. */
  readonly suspended: (user: Account) => Effect.Effect<void, never, CurrentActor>

  /** The actor has activated an account: its user is told too. */
  readonly activated: (user: Account) => Effect.Effect<void, never, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const notifications = yield* Notifications

  /** The full name of the actor. */
  const actorName = Effect.gen(function* () {
    const { userId } = yield* CurrentActor
    const actor = Option.getOrUndefined(yield* users.byId(userId))
    return actor === undefined ? "" : actor.name || actor.username
  })

  const about = ({ email, id, name }: Account) => ({ data: { user: { id, name, email } }, targets: [id] })

  const created = (user: Account, initiator: string) =>
    notifications.raise(notificationEvents.userCreated, {
      to: { roles: administrators, except: user.id },
      labels: { created_account_name: user.username, created_account_user_name: user.name, initiator },
      ...about(user),
      created_by: "api-users-create"
    })

  return {
    created: (user: Account) => Effect.flatMap(actorName, (initiator) => created(user, initiator)),

    signedUp: (user: Account) => created(user, bySignup),

    deleted: (user: Account) =>
      Effect.flatMap(actorName, (initiator) =>
        notifications.raise(notificationEvents.userDeleted, {
          to: { roles: administrators },
          labels: { deleted_account_name: user.username, deleted_account_user_name: user.name, initiator },
          targets: [user.id],
          created_by: "api-users-delete"
        })
      ),

    suspended: (user: Account) =>
      Effect.flatMap(actorName, (initiator) => {
        const labels = { suspended_account_name: user.username, suspended_account_user_name: user.name, initiator }
        const raised = { labels, ...about(user), created_by: "api-put-user-status" }
        return Effect.zipRight(
          notifications.raise(notificationEvents.userSuspended, { to: { roles: administrators }, ...raised }),
          notifications.raise(notificationEvents.ownAccountSuspended, { to: { users: [user.id] }, ...raised })
        )
      }),

    activated: (user: Account) =>
      Effect.flatMap(actorName, (initiator) => {
        const labels = { activated_account_name: user.username, activated_account_user_name: user.name, initiator }
        const raised = { labels, ...about(user), created_by: "api-put-user-status" }
        return Effect.zipRight(
          notifications.raise(notificationEvents.userActivated, { to: { roles: administrators }, ...raised }),
          notifications.raise(notificationEvents.ownAccountActivated, { to: { users: [user.id] }, ...raised })
        )
      })
  }
})

/** Notifies administrators, and the users themselves, of changes of accounts. notifications-audit-insights.md §A2. */
export class AccountNotifications extends Context.Tag("@atelier/core/AccountNotifications")<
  AccountNotifications,
  AccountNotificationsService
>() {
  static readonly layer = standingOn(service(AccountNotifications, make), Notifications.layer)
}
