import { Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { Users } from "../identity/users/Users.js"
import { Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction } from "../platform/store/Transactor.js"
import { parse, type Uuid } from "../platform/texts/Uuid.js"
import { notificationEventsById } from "./NotificationEvents.js"
import type { NotificationRepository } from "./NotificationRepository.js"
import * as Traced from "../platform/wiring/Traced.js"

interface Needs {
  readonly users: Users["Type"]
  readonly repository: NotificationRepository["Type"]
}

/** Which notifications a user wants. */
export const notificationPreferences = ({ users, repository }: Needs) => {
  const holder = (reference: string, action: "read" | "update") =>
    Effect.gen(function* () {
      const user = yield* users.holder(reference)
      yield* Access.authorize(action, AccessObjects.ownedBy("notification_preference", user.id))
      return user
    })

  return {
    preferences: Traced.fn("NotificationSettings.preferences")(function* (reference: string) {
      const { id } = yield* holder(reference, "read")
      return yield* repository.preferences(id)
    }),

    changePreferences: Traced.fn("NotificationSettings.changePreferences")(function* (
      reference: string,
      choices: Readonly<Record<string, boolean>>
    ) {
      const { id } = yield* holder(reference, "update")
      const disabled = new Map<Uuid, boolean>()
      for (const [text, isDisabled] of Object.entries(choices)) {
        const template = parse(text)
        if (template === undefined || !notificationEventsById.has(template)) {
          return yield* Invalid.field(
            "template_disabled_map",
            `${JSON.stringify(text.slice(0, 64))} is not the id of a notification template`
          )
        }
        disabled.set(template, isDisabled)
      }
      const now = yield* Timestamp.now
      return yield* transaction(Effect.zipRight(repository.setPreferences(id, disabled, now), repository.preferences(id)))
    })
  }
}
