/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { inbox, notifications, webPush } from "./notifications.js"

export const area = HttpApi.make("notifications").add(inbox).add(notifications).add(webPush)
