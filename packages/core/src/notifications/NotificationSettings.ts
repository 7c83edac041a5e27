import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import * as Audit from "../audit/Audit.js"
import { audited, auditedResource } from "../audit/AuditedResource.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { Users } from "../identity/users/Users.js"
import { type Forbidden, Invalid, NotFound, NotModified } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { transaction, type Transactor } from "../platform/store/Transactor.js"
import { Ids } from "../platform/Ids.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type NotificationEvent, notificationEventsById } from "./NotificationEvents.js"
import { NotificationRepository, type Preference } from "./NotificationRepository.js"
import { Notifications } from "./Notifications.js"
import { Notifier } from "./Notifier.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { EventBus } from "../platform/events/EventBus.js"
import type { Auditing } from "../audit/Audit.js"
import { notificationPreferences } from "./NotificationPreferences.js"
import { sentNotifications } from "./SentNotifications.js"

/** A notification that a user sends to itself. */
export interface CustomContent {
  readonly title: string
  readonly message: string
}

const missingTemplate = new NotFound({ resource: "notification_template" })

const settingsAudit = auditedResource<{ readonly notifier_paused: boolean }>({
  type: "notifications_settings",
  endsRightsOf: "none",
  fields: { notifier_paused: audited }
})

const templateAudit = auditedResource<{ readonly method: string }>({
  type: "notification_template",
  endsRightsOf: "none",
  fields: { method: audited }
})

/** A kind of notification, with its texts and the method that is chosen for it. */
export interface NotificationTemplateView {
  readonly id: Uuid
  readonly name: string
  readonly title_template: string
  readonly body_template: string
  readonly actions: string
  readonly group: string
  readonly method: string
  readonly kind: "system" | "custom"
  readonly enabled_by_default: boolean
}

/** The methods of {@link NotificationSettings}. */
export interface NotificationSettingsService {
  /** Whether the deployment sends notifications now. §A8. */
  readonly settings: () => Effect.Effect<{ readonly notifier_paused: boolean }>

  /**
   * Pauses or resumes the sending of notifications. Fails with `Forbidden` if the actor may not change the deployment, and with
   * `NotModified` for what is stored. §A8.
   */
  readonly changeSettings: (
    notifier_paused: boolean
  ) => Effect.Effect<{ readonly notifier_paused: boolean }, Forbidden | NotModified, CurrentActor | Auditing>

  /** The events of a kind by name, each with the method that was chosen for it. §A8. */
  readonly templates: (kind: NotificationEvent["kind"]) => Effect.Effect<ReadonlyArray<NotificationTemplateView>>

  /**
   * Chooses the method that messages of an event leave by. Fails with `NotFound` if the actor may not, with `Invalid` for an unknown method, and
   * with `NotModified` for the one it has. §A8.
   */
  readonly chooseMethod: (id: Uuid, method: string) => Effect.Effect<undefined, Invalid | NotFound | NotModified, CurrentActor | Auditing>

  /** The methods by which messages can be sent, and the default method. */
  readonly dispatchMethods: Effect.Effect<{ readonly available: ReadonlyArray<string>; readonly default: string }>

  /** The choices of a user. Fails with `NotFound` or `Forbidden` if the actor may not read them. §A8. */
  readonly preferences: (reference: string) => Effect.Effect<ReadonlyArray<Preference>, Forbidden | NotFound, CurrentActor>

  /** Stores choices of a user: all or, with `Invalid` for an unknown event, none. Answers all choices. §A8. */
  readonly changePreferences: (
    reference: string,
    choices: Readonly<Record<string, boolean>>
  ) => Effect.Effect<ReadonlyArray<Preference>, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>

  /** Sends the actor a notification that says it is a test. Fails with `Forbidden` if the actor may not change the deployment. §A8. */
  readonly test: () => Effect.Effect<void, Forbidden, CurrentActor>

  /**
   * Sends the actor its own words, the same at most once in a minute. Fails with `Invalid` for empty or long ones and with `Forbidden` for the
   * service's own users. §A8.
   */
  readonly custom: (content: CustomContent | undefined) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* NotificationRepository
  const ids = yield* Ids
  const users = yield* Users
  const userRows = yield* UserRepository
  const notifications = yield* Notifications
  const notifier = yield* Notifier
  const options = yield* DeploymentOptions

  const templateOf = ({ actions, body, enabled_by_default, group, id, kind, name, title }: NotificationEvent, method: string) => ({
    id,
    name,
    title_template: title,
    body_template: body,
    actions: JSON.stringify(actions),
    group,
    method,
    kind,
    enabled_by_default
  })

  return {
    settings: Traced.fn("NotificationSettings.settings")(function* () {
      return { notifier_paused: Option.getOrElse(yield* repository.isPaused, () => false) }
    }),

    changeSettings: Traced.fn("NotificationSettings.changeSettings")(function* (notifier_paused: boolean) {
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      const changed = yield* transaction(
        Effect.gen(function* () {
          const stored = Option.getOrUndefined(yield* repository.lockPaused)
          if (stored === notifier_paused) return false
          yield* Audit.audited(
            { action: "write", resource: settingsAudit, id: yield* ids.next, target: "" },
            Effect.as(repository.setPaused(notifier_paused), {
              value: undefined,
              // An entry shows the new value alone, against that of a deployment without one
              before: { notifier_paused: false },
              after: { notifier_paused }
            })
          )
          return true
        })
      )
      if (!changed) return yield* new NotModified()
      return { notifier_paused }
    }),

    templates: Traced.fn("NotificationSettings.templates")(function* (kind: NotificationEvent["kind"]) {
      const methods = yield* repository.methods
      return Array.from(notificationEventsById.values())
        .filter((event) => event.kind === kind)
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .map((event) => templateOf(event, methods.get(event.id) ?? ""))
    }),

    chooseMethod: Traced.fn("NotificationSettings.chooseMethod")(function* (id: Uuid, method: string) {
      yield* Access.authorizeOrHide("update", { type: "notification_template", id }, missingTemplate)
      const event = notificationEventsById.get(id)
      if (event === undefined) return yield* missingTemplate
      const known = [...notifier.methods, "inbox"]
      if (!known.includes(method)) return yield* Invalid.field("method", `must be ${known.join(", ")}`)
      const before = (yield* repository.methods).get(id) ?? ""
      if (before === method) return yield* new NotModified()
      yield* Audit.audited(
        { action: "write", resource: templateAudit, id, target: event.name },
        Effect.as(repository.setMethod(id, method), { value: undefined, before: { method: before }, after: { method } })
      )
    }),

    dispatchMethods: Effect.succeed({ available: notifier.methods, default: options.notificationsMethod }),

    ...notificationPreferences({ users, repository }),

    ...sentNotifications({ notifications, userRows })
  }
})

/** How the deployment and its users want to be told of events. */
export class NotificationSettings extends Context.Tag("@atelier/core/NotificationSettings")<
  NotificationSettings,
  NotificationSettingsService
>() {
  static readonly layer = standingOn(service(NotificationSettings, make), Users.layer, Notifications.layer, Notifier.layer)
}
