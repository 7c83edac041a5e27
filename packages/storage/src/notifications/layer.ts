/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/notifications"
import type { SqlClient } from "@effect/sql"
import { Layer } from "effect"
import { layer as inbox } from "./InboxRepository.js"
import notificationsMigration from "./migrations/0190_notifications.js"
import { layer as notifications } from "./NotificationRepository.js"

export const layer = Layer.mergeAll(inbox, notifications) satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = { "0190_notifications": notificationsMigration }
