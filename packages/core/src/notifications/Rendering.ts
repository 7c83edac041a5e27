/** Messages as they are stored, and as they are sent. notifications-audit-insights.md §A1. */
import type { OutgoingNotification } from "./Dispatcher.js"
import type { NotificationEvent } from "./NotificationEvents.js"
import type { MessagePayload, NotificationMessage, Recipient } from "./NotificationRepository.js"
import { escapeMarkdown, escapeUrl, render } from "./NotificationText.js"

/** What a message to a recipient tells. */
export const payloadOf = (
  { actions }: NotificationEvent,
  { data = null, labels }: { readonly labels: Readonly<Record<string, string>>; readonly data?: MessagePayload["data"] },
  { email, id, name, username }: Pick<Recipient, "id" | "username" | "name" | "email">,
  base_url: string
): MessagePayload => {
  const view = { base_url, username, email, user_id: id, labels, data: data ?? {} }
  return {
    user_name: name || username,
    user_username: username,
    user_email: email,
    labels,
    data,
    // A list of ids in a link ends with a separator
    actions: actions.map(({ label, url }) => ({ label, url: render(url, view, escapeUrl).replace(/\+$/, "") }))
  }
}

/** A message with its texts. */
export const outgoingOf = (
  event: NotificationEvent,
  { id, payload, targets, user_id }: Pick<NotificationMessage, "id" | "payload" | "targets" | "user_id">,
  base_url: string
): OutgoingNotification => {
  const view = {
    base_url,
    name: payload.user_name,
    username: payload.user_username,
    email: payload.user_email,
    user_id,
    labels: payload.labels,
    data: payload.data ?? {}
  }
  return {
    id,
    template_id: event.id,
    template_name: event.name,
    user_id,
    payload,
    targets,
    title: render(event.title, view, escapeMarkdown),
    body: render(event.body, view, escapeMarkdown)
  }
}
