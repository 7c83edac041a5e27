import { Inbox, NotificationSettings, WebPush } from "@atelier/core/notifications"
import { Effect } from "effect"
import * as contract from "../../contract/notifications/notifications.js"
import { CountedNotification } from "../../contract/notifications/notifications.js"
import { jsonSocketOrEvents } from "../../sockets/events.js"
import * as Handlers from "../Handlers.js"

export const inbox = Handlers.group(contract.inbox, (handlers) =>
  Effect.map(Inbox, (notifications) =>
    handlers
      .handle("listInboxNotifications", ({ urlParams }) => notifications.list(urlParams, urlParams.starting_before))
      .handle("watchInboxNotifications", ({ request, urlParams }) =>
        Effect.flatMap(notifications.watch(urlParams, urlParams.format), (events) =>
          jsonSocketOrEvents(request, CountedNotification, events)
        )
      )
      .handle("updateInboxNotificationReadStatus", ({ path, payload }) => notifications.setRead(path.id, payload.is_read))
      .handle("markAllInboxNotificationsAsRead", () => notifications.markAllRead())
  )
)

export const notifications = Handlers.group(contract.notifications, (handlers) =>
  Effect.map(NotificationSettings, (settings) =>
    handlers
      .handle("getNotificationsSettings", () => settings.settings())
      .handle("updateNotificationsSettings", ({ payload }) => settings.changeSettings(payload.notifier_paused))
      .handle("listSystemNotificationTemplates", () => settings.templates("system"))
      .handle("listCustomNotificationTemplates", () => settings.templates("custom"))
      .handle("updateNotificationTemplateMethod", ({ path, payload }) =>
        Effect.as(settings.chooseMethod(path.notification_template, payload.method), {
          message: "Successfully updated notification template method."
        })
      )
      .handle("getNotificationDispatchMethods", () => settings.dispatchMethods)
      .handle("sendTestNotification", () => settings.test())
      .handle("sendCustomNotification", ({ payload }) => settings.custom(payload.content))
      .handle("getNotificationPreferences", ({ path }) => settings.preferences(path.user))
      .handle("updateNotificationPreferences", ({ path, payload }) => settings.changePreferences(path.user, payload.template_disabled_map))
  )
)

export const webPush = Handlers.group(contract.webPush, (handlers) =>
  Effect.map(WebPush, (push) =>
    handlers
      .handle("createWebpushSubscription", ({ path, payload }) => push.subscribe(path.user, payload))
      .handle("deleteWebpushSubscription", ({ path, payload }) => push.unsubscribe(path.user, payload.endpoint))
      .handle("sendTestPush", ({ path }) => push.test(path.user))
  )
)
