import { Context, Effect, Encoding, Option, Schema } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { Cryptography } from "../platform/secrets/Cryptography.js"
import { channel, EventBus } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { publish } from "../platform/store/Transactor.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { Dispatchers } from "./Dispatcher.js"
import { Mailer } from "./Mailer.js"
import { type NotificationEvent, notificationEvents } from "./NotificationEvents.js"
import { type NotificationMessage, NotificationRepository, type Recipient, type Recipients } from "./NotificationRepository.js"
import { payloadOf } from "./Rendering.js"
import { service } from "../platform/wiring/Standing.js"

/** Messages have been queued: processes that send need not wait for their next look. */
export const messagesQueued = channel("notification_messages", Schema.Struct({}))

/** An event of a kind, before it is a message to each of its recipients. */
export interface Raised<Label extends string, Optional extends string> {
  readonly to: Recipients
  readonly labels: Readonly<Record<Label, string>> & Readonly<Partial<Record<Optional, string>>>
  readonly data?: Readonly<Record<string, unknown>>
  /** The objects that the event is about. */
  readonly targets: ReadonlyArray<Uuid>
  /** The part of the service that raises it, for operators. */
  readonly created_by: string
}

const isWanted = (event: NotificationEvent, { disabled }: Recipient): boolean =>
  event.enabled_by_default ? disabled !== true : disabled === false

/** The methods that a message leaves by. §A3 no. 1, 2. */
export const methodsOf = (
  event: NotificationEvent,
  chosen: string | undefined,
  { hasExternal, inbox, method }: { readonly hasExternal: boolean; readonly inbox: boolean; readonly method: string }
): ReadonlyArray<string> => {
  const external = chosen ?? (hasExternal ? method : undefined)
  const takesInbox = event.id !== notificationEvents.oneTimePasscode.id
  return [...new Set([...(external === undefined ? [] : [external]), ...(inbox ? ["inbox"] : [])])].filter(
    (name) => takesInbox || name !== "inbox"
  )
}

/** The methods of {@link Notifications}. */
export interface NotificationsService {
  /**
   * Queues the messages of an event in the transaction of the change that it tells of. Messages that the store refuses are logged and do not make the
   * change fail. notifications-audit-insights.md §A3.
   */
  readonly raise: <L extends string, O extends string>(event: NotificationEvent<L, O>, raised: Raised<L, O>) => Effect.Effect<void>

  /** As `raise`, and dies of messages that the store refuses: for callers that ask for nothing but the message. */
  readonly send: <L extends string, O extends string>(event: NotificationEvent<L, O>, raised: Raised<L, O>) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const repository = yield* NotificationRepository
  const cryptography = yield* Cryptography
  const mailer = yield* Mailer
  const ids = yield* Ids
  const bus = yield* EventBus
  const { accessUrl, notificationsInboxEnabled, notificationsMethod } = yield* DeploymentOptions
  const hosted = yield* Dispatchers
  const route = {
    hasExternal: mailer.isConfigured || hosted.length > 0,
    inbox: notificationsInboxEnabled,
    method: notificationsMethod
  }

  const messagesOf = <L extends string, O extends string>(
    event: NotificationEvent<L, O>,
    { created_by, data, labels, targets }: Raised<L, O>,
    recipient: Recipient,
    methods: ReadonlyArray<string>,
    now: Timestamp.Timestamp
  ) =>
    Effect.gen(function* () {
      const { id } = recipient
      const payload = payloadOf(
        event,
        data === undefined ? { labels: { ...labels } } : { labels: { ...labels }, data },
        recipient,
        accessUrl
      )
      return yield* Effect.forEach(methods, (method) =>
        Effect.gen(function* () {
          const identity = JSON.stringify([event.id, id, method, payload, targets, now.slice(0, 10)])
          const message: NotificationMessage = {
            id: yield* ids.next,
            template_id: event.id,
            user_id: id,
            method,
            status: "pending",
            status_reason: "",
            attempt_count: 0,
            due_at: now,
            created_by,
            payload,
            targets,
            created_at: now,
            updated_at: now,
            dedupe_hash: Encoding.encodeHex(yield* cryptography.sha256(new TextEncoder().encode(identity)))
          }
          return message
        })
      )
    })

  /** Queues the messages of an event; answers why the store refused them. */
  const queue = <L extends string, O extends string>(event: NotificationEvent<L, O>, raised: Raised<L, O>) =>
    Effect.gen(function* () {
      const recipients = (yield* repository.recipients(event.id, raised.to)).filter((recipient) => isWanted(event, recipient))
      if (recipients.length === 0) return Option.none<string>()
      const methods = methodsOf(event, (yield* repository.methods).get(event.id), route)
      if (methods.length === 0) return Option.none<string>()
      const now = yield* Timestamp.now
      const messages = yield* Effect.forEach(recipients, (recipient) => messagesOf(event, raised, recipient, methods, now))
      const refused = yield* repository.enqueue(messages.flat())
      if (Option.isNone(refused)) yield* Effect.provideService(publish(messagesQueued, {}), EventBus, bus)
      return refused
    })

  return {
    raise: <L extends string, O extends string>(event: NotificationEvent<L, O>, raised: Raised<L, O>): Effect.Effect<void> =>
      Effect.flatMap(
        queue(event, raised),
        Option.match({
          onNone: () => Effect.void,
          onSome: (reason) => Effect.logError("a notification could not be queued", { event: event.name, reason })
        })
      ),

    send: <L extends string, O extends string>(event: NotificationEvent<L, O>, raised: Raised<L, O>): Effect.Effect<void> =>
      Effect.flatMap(
        queue(event, raised),
        Option.match({ onNone: () => Effect.void, onSome: (reason) => Effect.dieMessage(`a notification could not be queued: ${reason}`) })
      )
  }
})

/** Tells users of events. */
export class Notifications extends Context.Tag("@atelier/core/Notifications")<Notifications, NotificationsService>() {
  static readonly layer = service(Notifications, make)
}
