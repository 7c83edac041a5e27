import { Context, Effect, Option } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { ownerRole } from "../identity/users/User.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { notificationEvents } from "../notifications/NotificationEvents.js"
import { Notifications } from "../notifications/Notifications.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { ScheduledWorkspaces } from "./settings/ScheduledWorkspaces.js"
import type { TemplateWithNames } from "./Template.js"

/** The methods of {@link TemplateNotifications}. */
export interface TemplateNotificationsService {
  /** The actor has deleted a template. */
  readonly deleted: (names: TemplateWithNames) => Effect.Effect<void, never, CurrentActor>

  /** A template has another deprecation message: owners of its workspaces are told. */
  readonly deprecated: (names: TemplateWithNames) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const workspaces = yield* ScheduledWorkspaces
  const notifications = yield* Notifications

  return {
    deleted: ({ display_name, id, name, organization_id }: TemplateWithNames) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentActor
        const actor = Option.getOrUndefined(yield* users.byId(userId))
        yield* notifications.raise(notificationEvents.templateDeleted, {
          to: { roles: ["template-admin", ownerRole], except: userId },
          labels: { name: display_name || name, initiator: actor?.username ?? "" },
          targets: [id, organization_id],
          created_by: "api-templates-delete"
        })
      }),

    deprecated: ({ deprecated, id, name, organization_name }: TemplateWithNames) =>
      Effect.gen(function* () {
        yield* notifications.raise(notificationEvents.templateDeprecated, {
          to: { users: yield* workspaces.ownersOf(id) },
          labels: { template: name, message: deprecated, organization: organization_name },
          targets: [],
          created_by: "api"
        })
      })
  }
})

/** Notifies users of changes of templates. notifications-audit-insights.md §A2. */
export class TemplateNotifications extends Context.Tag("@atelier/core/TemplateNotifications")<
  TemplateNotifications,
  TemplateNotificationsService
>() {
  static readonly layer = standingOn(service(TemplateNotifications, make), Notifications.layer)
}
