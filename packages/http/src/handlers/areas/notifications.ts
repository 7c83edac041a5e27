/** How this area's groups of endpoints are implemented. */
import { inbox, notifications, webPush } from "../notifications.js"
import { together } from "@atelier/core/platform"

export const area = together(inbox, notifications, webPush)
