/** What users are told of, and how. notifications-audit-insights.md §A8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { CountedNotification as Counted, InboxNotification as Notification } from "@atelier/core/notifications"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { dialectal, listOfOne } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { Body, flag, boundedMap, listOf, needed, Path, StrictQuery, text } from "../../wire/input.js"
import { AlsoEvents, Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const InboxNotification = Notification.annotations({ identifier: "InboxNotification" })
export const CountedNotification = Counted.annotations({ identifier: "GetInboxNotificationResponse" })

/** The standard form is a message too. notifications-audit-insights.md §A8. */
const ReadNotification = dialectal({
  standard: Schema.transform(
    Schema.Struct({ ...Counted.fields, ...Response.fields }).annotations({ identifier: "ReadNotification" }),
    Schema.typeSchema(Counted),
    {
      strict: true,
      decode: ({ notification, unread_count }) => ({ notification, unread_count }),
      encode: ({ notification, unread_count }) => ({
        notification,
        unread_count,
        message: notification.read_at === null ? "The notification is unread." : "The notification is read."
      })
    }
  ),
  reference: CountedNotification
})

const InboxPage = Schema.Struct({ notifications: Schema.Array(InboxNotification), unread_count: Numbers.Count }).annotations({
  identifier: "ListInboxNotificationsResponse"
})

const Settings = Schema.Struct({ notifier_paused: Schema.Boolean }).annotations({ identifier: "NotificationsSettings" })

const Template = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  title_template: Schema.String,
  body_template: Schema.String,
  /** A list of buttons as JSON. */
  actions: Schema.String,
  group: Schema.String,
  /** The method that was chosen for it; empty for the deployment's. */
  method: Schema.String,
  kind: Schema.Literal("system", "custom"),
  enabled_by_default: Schema.Boolean
}).annotations({ identifier: "NotificationTemplate" })

const Methods = Schema.Struct({ available: Schema.Array(Schema.String), default: Schema.String }).annotations({
  identifier: "NotificationMethodsResponse"
})

const Preference = Schema.Struct({ id: Uuid.Uuid, disabled: Schema.Boolean, updated_at: Timestamp.Timestamp }).annotations({
  identifier: "NotificationPreference"
})

/** An id in a query, with or without blanks around it. */
const SpacedUuid = Schema.compose(
  Schema.transform(Schema.String.pipe(Schema.maxLength(1024)), Schema.String, {
    strict: true,
    decode: (id) => id.trim(),
    encode: (id) => id
  }),
  Uuid.Uuid
).annotations({ jsonSchema: { type: "string", format: "uuid" } })

/** An id that counts as absent when it is empty. */
const idOrEmpty = Schema.optional(
  Schema.transform(Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }), Schema.UndefinedOr(Uuid.Uuid), {
    strict: true,
    decode: (id) => (id === "" ? undefined : id),
    encode: (id) => id ?? ""
  })
)

/** The service refuses other words, as it does with the other rules of an inbox. */
const readStatus = Schema.optionalWith(Schema.String.annotations({ jsonSchema: { type: "string", enum: ["", "all", "read", "unread"] } }), {
  default: () => ""
})

const filter = { targets: listOf(SpacedUuid), templates: listOf(SpacedUuid), read_status: readStatus }

export const inbox = HttpApiGroup.make("inbox")
  .annotate(OpenApi.Description, "The caller's notifications.")
  .add(
    HttpApiEndpoint.get("listInboxNotifications", "/api/v2/notifications/inbox")
      .annotateContext(
        operation(
          "List notifications",
          "Returns a page of the caller's notifications, the newest first, and the number of all unread ones. `starting_before` continues behind a notification."
        )
      )
      .setUrlParams(StrictQuery({ ...filter, starting_before: idOrEmpty }))
      .addSuccess(InboxPage)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("watchInboxNotifications", "/api/v2/notifications/inbox/watch")
      .annotateContext(
        operation("Watch notifications", "Sends the caller's new notifications over a WebSocket. `format` is `markdown` or `plaintext`.")
      )
      .setUrlParams(StrictQuery({ ...filter, format: text }))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("Forbidden", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(AlsoEvents, true)
      .annotate(Messages, { schema: CountedNotification, framing: "values", resume: "snapshot" })
  )
  .add(
    HttpApiEndpoint.put("updateInboxNotificationReadStatus", "/api/v2/notifications/inbox/:id/read-status")
      .annotateContext(operation("Set a notification's read status", "Marks a notification as read, or as unread."))
      .setPath(Path({ id: Uuid.Uuid }))
      .setPayload(Body({ is_read: flag }))
      .addSuccess(ReadNotification)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("markAllInboxNotificationsAsRead", "/api/v2/notifications/inbox/mark-all-as-read")
      .annotateContext(operation("Mark all notifications as read", "Marks all of the caller's unread notifications as read."))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
  )
  .middlewareEndpoints(Authenticated)

export const notifications = HttpApiGroup.make("notifications")
  .annotate(OpenApi.Description, "How the deployment and its users want to be told of events.")
  .add(
    HttpApiEndpoint.get("getNotificationsSettings", "/api/v2/notifications/settings")
      .annotateContext(operation("Get notification settings", "Returns whether the sending of notifications is paused."))
      .addSuccess(Settings)
  )
  .add(
    HttpApiEndpoint.put("updateNotificationsSettings", "/api/v2/notifications/settings")
      .annotateContext(operation("Update notification settings", "Pauses or resumes the sending of notifications."))
      .setPayload(Body({ notifier_paused: flag }))
      .addSuccess(Settings)
      .addError(refusals("Forbidden", "NotModified"))
  )
  .add(
    HttpApiEndpoint.get("listSystemNotificationTemplates", "/api/v2/notifications/templates/system")
      .annotateContext(operation("List system notification templates", "Returns the events that users are told of, by name."))
      .addSuccess(Schema.Array(Template))
  )
  .add(
    HttpApiEndpoint.get("listCustomNotificationTemplates", "/api/v2/notifications/templates/custom")
      .annotateContext(operation("List custom notification templates", "Returns the template of the notifications that users write."))
      .addSuccess(Schema.Array(Template))
  )
  .add(
    HttpApiEndpoint.put("updateNotificationTemplateMethod", "/api/v2/notifications/templates/:notification_template/method")
      .annotateContext(operation("Choose a notification method", "Sets the method that notifications of an event are sent by."))
      .setPath(Path({ notification_template: Uuid.Uuid }))
      .setPayload(Body({ method: needed(text) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "NotModified"))
  )
  .add(
    HttpApiEndpoint.get("getNotificationDispatchMethods", "/api/v2/notifications/dispatch-methods")
      .annotateContext(
        operation("List notification methods", "Returns the methods that notifications can be sent by, and the deployment's.")
      )
      .addSuccess(listOfOne(Methods))
  )
  .add(
    HttpApiEndpoint.post("sendTestNotification", "/api/v2/notifications/test")
      .annotateContext(operation("Send a test notification", "Sends the caller a notification, to test the deployment's settings."))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.post("sendCustomNotification", "/api/v2/notifications/custom")
      .annotateContext(
        operation(
          "Send a custom notification",
          "Sends the caller a notification with a title of at most 120 bytes and a message of at most 2000."
        )
      )
      .setPayload(Body({ content: needed(Schema.optional(Schema.Struct({ title: text, message: text }))) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getNotificationPreferences", "/api/v2/users/:user/notifications/preferences")
      .annotateContext(operation("Get notification preferences", "Returns the events that a user has switched on or off."))
      .setPath(Path({ user: Schema.String }))
      .addSuccess(Schema.Array(Preference))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateNotificationPreferences", "/api/v2/users/:user/notifications/preferences")
      .annotateContext(
        operation("Update notification preferences", "Switches events on or off for a user. Those not given stay as they are.")
      )
      .setPath(Path({ user: Schema.String }))
      .setPayload(
        Body({
          template_disabled_map: Schema.optionalWith(boundedMap(Schema.Boolean, 1000), { default: () => ({}) })
        })
      )
      .addSuccess(Schema.Array(Preference))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)

export const webPush = HttpApiGroup.make("webPush")
  .annotate(OpenApi.Description, "Messages to users' browsers.")
  .add(
    HttpApiEndpoint.post("createWebpushSubscription", "/api/v2/users/:user/webpush/subscription")
      .annotateContext(
        operation(
          "Subscribe a browser",
          "Subscribes a browser of a user to push messages, after a test message. A subscription with the same endpoint gets the new keys."
        )
      )
      .setPath(Path({ user: Schema.String }))
      .setPayload(Body({ endpoint: needed(text), p256dh_key: needed(text), auth_key: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.del("deleteWebpushSubscription", "/api/v2/users/:user/webpush/subscription")
      .annotateContext(operation("Unsubscribe a browser", "Ends the subscription of a user's browser."))
      .setPath(Path({ user: Schema.String }))
      .setPayload(Body({ endpoint: text }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.post("sendTestPush", "/api/v2/users/:user/webpush/test")
      .annotateContext(operation("Send a test push message", "Pushes a message that says it is a test to all browsers of a user."))
      .setPath(Path({ user: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "UpstreamFailure"))
  )
  .middlewareEndpoints(Authenticated)
