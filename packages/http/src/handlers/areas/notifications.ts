/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { inbox, notifications, webPush } from "../notifications.js"

export const area = Layer.mergeAll(inbox, notifications, webPush)
