/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import { Inbox } from "./Inbox.js"
import type { InboxRepository, NotificationRepository, PushSubscriptionRepository } from "./NotificationRepository.js"
import { Notifications } from "./Notifications.js"
import { NotificationSettings } from "./NotificationSettings.js"
import { Notifier } from "./Notifier.js"
import { WebPush } from "./WebPush.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(Inbox.layer, Notifications.layer, NotificationSettings.layer, Notifier.layer, WebPush.layer)

export const workers = [Effect.flatMap(Notifier, ({ start }) => start)]

export type Stored = InboxRepository | NotificationRepository | PushSubscriptionRepository
