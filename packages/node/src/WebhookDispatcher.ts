import { type Dispatcher, NotDelivered, type OutgoingNotification, plainTextOf } from "@atelier/core/notifications"
import { StartError } from "@atelier/core/platform"
import { Effect } from "effect"

/** Bytes of a refusing answer that reach the log. */
const maximumReason = 512

const bodyOf = ({ body, id, payload, targets, template_id, template_name, title, user_id }: OutgoingNotification): string =>
  JSON.stringify({
    _version: "1.1",
    msg_id: id,
    payload: {
      _version: "1.2",
      notification_name: template_name,
      notification_template_id: template_id,
      user_id,
      user_email: payload.user_email,
      user_name: payload.user_name,
      user_username: payload.user_username,
      actions: payload.actions,
      labels: payload.labels,
      data: payload.data,
      targets: targets.length === 0 ? null : targets
    },
    title: plainTextOf(title),
    title_markdown: title,
    body: plainTextOf(body),
    body_markdown: body
  })

/** Returns the first bytes of an answer, and lets go of the rest. */
const beginningOf = async (response: Response): Promise<string> => {
  const parts: Array<Uint8Array> = []
  let length = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    length += part.length
    if (length >= maximumReason) break
  }
  return Buffer.concat(parts).subarray(0, maximumReason).toString("utf8")
}

/**
 * Posts each message as JSON to the operator's endpoint, and follows no redirect. Credentials of its URL go in the head (RFC 7617). Throws a `StartError` for an endpoint that is not an http or https URL.
 * notifications-audit-insights.md §A6.
 */
export const make = ({ endpoint }: { readonly endpoint: string }): Dispatcher => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new StartError({ option: "options.notificationsWebhookEndpoint", value: endpoint, reason: "must be an http or https URL" })
  }
  // `fetch` refuses a URL with credentials, and shows it
  const credentials = [url.username, url.password].map(decodeURIComponent).join(":")
  const authorization = credentials === ":" ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }
  url.username = ""
  url.password = ""
  return {
    method: "webhook",
    dispatch: (message) =>
      Effect.tryPromise({
        try: async (signal) => {
          const response = await fetch(url, {
            method: "POST",
            headers: { "content-type": "application/json", "x-message-id": message.id, ...authorization },
            body: bodyOf(message),
            redirect: "manual",
            signal
          })
          if (response.ok) {
            await response.body?.cancel()
            return undefined
          }
          return `the endpoint answered ${response.status}: ${await beginningOf(response)}`
        },
        // The message of the cause names the failure of the connection; the URL may hold a secret
        catch: (error) => {
          const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
          return new NotDelivered({ reason: cause instanceof Error ? cause.message : String(cause), retryable: true })
        }
      }).pipe(Effect.flatMap((reason) => (reason === undefined ? Effect.void : new NotDelivered({ reason, retryable: true }))))
  }
}
