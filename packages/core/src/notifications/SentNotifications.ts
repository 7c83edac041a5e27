import { Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import type { UserRepository } from "../identity/users/UserRepository.js"
import { Forbidden, Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { notificationEvents } from "./NotificationEvents.js"
import type { Notifications } from "./Notifications.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CustomContent } from "./NotificationSettings.js"

/** Bytes of a custom notification's texts. */
const maximumTitle = 120

const maximumMessage = 2_000

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const contentRefusal = (content: CustomContent | undefined): string | undefined => {
  if (content === undefined) return "content is required"
  if (content.title.trim() === "" && content.message.trim() === "") return "content needs a title or a message"
  if (bytesOf(content.title) > maximumTitle) return `content.title must have at most ${maximumTitle} bytes`
  if (bytesOf(content.message) > maximumMessage) return `content.message must have at most ${maximumMessage} bytes`
  return undefined
}

interface Needs {
  readonly notifications: Notifications["Type"]
  readonly userRows: UserRepository["Type"]
}

/** Notifications that users send: to themselves, and with content of their own. */
export const sentNotifications = ({ notifications, userRows }: Needs) => ({
  test: Traced.fn("NotificationSettings.test")(function* () {
    yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
    const { userId } = yield* CurrentActor
    yield* notifications.send(notificationEvents.test, {
      to: { users: [userId] },
      labels: {},
      data: { timestamp: yield* Timestamp.now },
      targets: [],
      created_by: "send-test-notification"
    })
  }),

  custom: Traced.fn("NotificationSettings.custom")(function* (content: CustomContent | undefined) {
    const refusal = contentRefusal(content)
    if (content === undefined || refusal !== undefined) {
      return yield* new Invalid({ message: "Invalid request body.", ...(refusal === undefined ? {} : { detail: refusal }) })
    }
    const { userId } = yield* CurrentActor
    const user = Option.getOrUndefined(yield* userRows.byId(userId))
    if (user === undefined || user.is_system) {
      return yield* new Forbidden({ message: "Forbidden.", detail: "Only users of people send notifications to themselves." })
    }
    const now = yield* Timestamp.now
    yield* notifications.send(notificationEvents.custom, {
      to: { users: [userId] },
      labels: { custom_title: content.title, custom_message: content.message },
      data: { dedupe_bypass_ts: `${now.slice(0, 16)}:00Z` },
      targets: [],
      created_by: userId
    })
  })
})
