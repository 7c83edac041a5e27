/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/notifications"
import { Layer } from "effect"
import { layer as inbox } from "./InboxRepository.js"
import notificationsMigration from "./migrations/0190_notifications.js"
import webPushMigration from "./migrations/0230_webpush_subscriptions.js"
import { layer as notifications } from "./NotificationRepository.js"
import { layer as subscriptions } from "./PushSubscriptionRepository.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(inbox, notifications, subscriptions) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0190_notifications": notificationsMigration, "0230_webpush_subscriptions": webPushMigration }
