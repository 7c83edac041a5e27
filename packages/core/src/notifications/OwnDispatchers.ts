import { type Context, Effect, Schema } from "effect"
import type { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { channelsOf, type EventBus } from "../platform/events/EventBus.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../platform/store/Transactor.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { type Dispatcher, NotDelivered } from "./Dispatcher.js"
import { rendered } from "./EmailMessage.js"
import type { Mailer } from "./Mailer.js"
import type { InboxRepository } from "./NotificationRepository.js"
import { plainTextOf } from "./NotificationText.js"

/** New notifications in a user's inbox. §A7. */
export const inboxEvents = channelsOf("inbox_notification:owner", Schema.Struct({ id: Uuid }))

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly mailer: Mailer["Type"]
  readonly inbox: InboxRepository["Type"]
  readonly services: Context.Context<EventBus | Transactor>
}

/** The dispatchers of the service itself: mail and the inbox. */
export const ownDispatchers = ({ options, mailer, inbox, services }: Needs) => {
  const byMail: Dispatcher = {
    method: "smtp",
    dispatch: ({ body, id, payload, template_id, title }) => {
      const settings = `${options.accessUrl}/settings/notifications`
      const content = {
        subject: plainTextOf(title),
        name: payload.user_name,
        paragraphs: plainTextOf(body).split(/\n{2,}/),
        actions: payload.actions,
        links: [
          { label: "Notification settings", url: settings },
          { label: "Stop receiving messages like this", url: `${settings}?disabled=${template_id}` }
        ]
      }
      return Effect.catchTag(
        mailer.send({ ...rendered(content, options), id, to: payload.user_email }),
        "MailNotSent",
        (failure) => new NotDelivered(failure)
      )
    }
  }

  const toInbox: Dispatcher = {
    method: "inbox",
    dispatch: ({ body, id, payload, targets, template_id, title, user_id }) =>
      transaction(
        Effect.gen(function* () {
          const notification = { id, user_id, template_id, targets, title, content: body, actions: payload.actions, read_at: null }
          const isNew = yield* inbox.insert({ ...notification, created_at: yield* Timestamp.now })
          if (isNew) yield* publish(inboxEvents(user_id), { id })
        })
      ).pipe(Effect.provide(services))
  }

  return { byMail, toInbox }
}
