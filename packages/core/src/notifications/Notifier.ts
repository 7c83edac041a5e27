import { Context, Duration, Effect, Exit, Queue, type Scope } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Background from "../platform/background/Background.js"
import { channelsOf, EventBus, listen } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import * as Measure from "../platform/Measure.js"
import { StartError } from "../platform/wiring/StartError.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { publish, transaction, Transactor } from "../platform/store/Transactor.js"
import { Uuid } from "../platform/texts/Uuid.js"
import * as Worker from "../platform/background/Worker.js"
import { Schema } from "effect"
import { type Dispatcher, Dispatchers, NotDelivered } from "./Dispatcher.js"
import { rendered } from "./EmailMessage.js"
import { Mailer } from "./Mailer.js"
import { notificationEventsById } from "./NotificationEvents.js"
import { messageAfter, type MessageEvent } from "./NotificationQueue.js"
import { InboxRepository, type LeasedMessage, NotificationRepository } from "./NotificationRepository.js"
import { messagesQueued } from "./Notifications.js"
import { plainTextOf } from "./NotificationText.js"
import { outgoingOf } from "./Rendering.js"
import { service } from "../platform/wiring/Standing.js"

/** Deliveries of one process at once. */
const concurrency = 10

/** New notifications in a user's inbox. §A7. */
export const inboxEvents = channelsOf("inbox_notification:owner", Schema.Struct({ id: Uuid }))

const attempts = Measure.counter("notifications_dispatch_attempts_total", "Attempts to deliver a notification.", [
  "method",
  "notification_template_id",
  "result"
])

const retries = Measure.counter("notifications_retry_count", "Attempts after a first one.", ["method", "notification_template_id"])

const inflight = Measure.level("notifications_inflight_dispatches", "Notifications that are being delivered.", [
  "method",
  "notification_template_id"
])

const sendSeconds = Measure.histogram(
  "notifications_dispatcher_send_seconds",
  "How long an attempt to deliver a notification took.",
  [0.001, 0.05, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120],
  ["method"]
)

const synced = Measure.counter("notifications_synced_updates_total", "Results of attempts that were stored.", [])

/** How an attempt ended, in the words of metrics. */
const resultOf = (event: MessageEvent): string =>
  event._tag === "Failed" ? (event.retryable ? "temp_fail" : "perm_fail") : event._tag === "Inhibited" ? "inhibited" : "success"

/** The methods of {@link Notifier}. */
export interface NotifierService {
  /** Methods that a message can leave by, without the inbox. */
  readonly methods: ReadonlyArray<string>

  /** The dispatcher of a method; undefined where the method is not configured. */
  readonly dispatcher: (name: string) => Dispatcher | undefined

  /** Delivers everything that is due. */
  readonly run: Effect.Effect<void>

  /** Delivers messages for as long as the scope is open: when some are queued, and each `notificationsFetchInterval`. Every process does. §A4. */
  readonly start: Effect.Effect<void, never, Scope.Scope | EventBus>
}

const make = Effect.gen(function* () {
  const repository = yield* NotificationRepository
  const inbox = yield* InboxRepository
  const mailer = yield* Mailer
  const ids = yield* Ids
  const options = yield* DeploymentOptions
  const { notificationsDispatchTimeout: dispatchTimeout, notificationsLeaseCount: leaseCount, notificationsMethod: method } = options
  const limits = {
    maxSendAttempts: options.notificationsMaxSendAttempts,
    retryInterval: options.notificationsRetryInterval,
    leasePeriod: options.notificationsLeasePeriod
  }
  const services = yield* Effect.context<EventBus | Transactor>()

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

  const hosted = yield* Dispatchers
  const dispatchers = new Map([...(mailer.isConfigured ? [byMail] : []), ...hosted, toInbox].map((one) => [one.method, one]))
  const knownMethods = new Set(["smtp", "webhook", ...hosted.map((one) => one.method)])
  if (!knownMethods.has(method)) {
    return yield* new StartError({
      option: "options.notificationsMethod",
      value: method,
      reason: `must be ${[...knownMethods].join(" or ")}`
    })
  }
  if (Duration.greaterThanOrEqualTo(dispatchTimeout, limits.leasePeriod)) {
    return yield* new StartError({ option: "options.notificationsDispatchTimeout", reason: "must be less than notificationsLeasePeriod" })
  }
  const { notificationsFetchInterval, notificationsLeaseCount, notificationsMaxSendAttempts } = options
  for (const [option, value] of Object.entries({ notificationsLeaseCount, notificationsMaxSendAttempts })) {
    if (value < 1) return yield* new StartError({ option: `options.${option}`, value: String(value), reason: "must be 1 or more" })
  }
  if (Duration.toMillis(notificationsFetchInterval) <= 0) {
    return yield* new StartError({ option: "options.notificationsFetchInterval", reason: "must be longer than zero" })
  }

  const attempt = (message: LeasedMessage): Effect.Effect<MessageEvent> => {
    if (!message.is_wanted) return Effect.succeed({ _tag: "Inhibited", reason: "the user does not want it" })
    const dispatcher = dispatchers.get(message.method)
    const known = notificationEventsById.get(message.template_id)
    const impossible = (reason: string) => Effect.succeed<MessageEvent>({ _tag: "Failed", reason, retryable: false })
    if (dispatcher === undefined) return impossible(`the method ${message.method} is not configured`)
    if (known === undefined) return impossible("the event is unknown to this version of the service")
    return dispatcher.dispatch(outgoingOf(known, message, options.accessUrl)).pipe(
      Effect.timeoutFail({
        duration: dispatchTimeout,
        onTimeout: () => new NotDelivered({ reason: "the delivery takes too long", retryable: true })
      }),
      Effect.as<MessageEvent>({ _tag: "Delivered" }),
      Effect.catchTag("NotDelivered", ({ reason, retryable }) => Effect.succeed<MessageEvent>({ _tag: "Failed", reason, retryable })),
      // A message that crashes a host's dispatcher must not keep other messages from being sent
      Effect.catchAllDefect((defect) =>
        Effect.as(Effect.logError("a dispatcher failed on a notification", defect), {
          _tag: "Failed",
          reason: "the dispatcher died",
          retryable: true
        } as const)
      )
    )
  }

  /** An attempt that operators can measure. */
  const measured = (message: LeasedMessage) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        inflight(message.method, message.template_id).update(1)
        return performance.now()
      }),
      () => attempt(message),
      (begun, exit) =>
        Effect.sync(() => {
          inflight(message.method, message.template_id).update(-1)
          if (!Exit.isSuccess(exit)) return
          sendSeconds(message.method).update((performance.now() - begun) / 1000)
          attempts(message.method, message.template_id, resultOf(exit.value)).update(1)
          if (message.attempt_count > 0) retries(message.method, message.template_id).update(1)
        })
    )

  /**
   * Whether the lease lasts longer than an attempt may take. One that does not is renewed, unless another process has the message by now:
   * messages that are leased at once wait for each other.
   */
  const isHeld = (message: LeasedMessage, lease: { readonly until: Timestamp.Timestamp }) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      if (Timestamp.plus(now, dispatchTimeout) < lease.until) return true
      return yield* repository.renew(message.id, message.lease_id, Timestamp.plus(now, limits.leasePeriod))
    })

  const deliver = (message: LeasedMessage, lease: { readonly until: Timestamp.Timestamp }) =>
    Effect.gen(function* () {
      if (!(yield* isHeld(message, lease))) return
      const event = yield* measured(message)
      if (event._tag === "Failed") {
        yield* Effect.logWarning("a notification could not be delivered", { reason: event.reason, retryable: event.retryable })
      }
      const now = yield* Timestamp.now
      const state = messageAfter(message, event, now, limits)
      if (state === undefined) return
      yield* repository.settle(message.id, message.lease_id, state, now)
      synced().update(1)
    }).pipe(
      Effect.annotateLogs({ message: message.id, method: message.method }),
      Effect.withSpan("notification.deliver", { attributes: { method: message.method, template: message.template_id } })
    )

  const run = Effect.gen(function* () {
    for (;;) {
      const now = yield* Timestamp.now
      const lease = {
        id: yield* ids.next,
        until: Timestamp.plus(now, limits.leasePeriod),
        limit: leaseCount,
        maxSendAttempts: limits.maxSendAttempts
      }
      const messages = yield* repository.lease(now, lease)
      yield* Background.each("notification_delivery", messages, (message) => deliver(message, lease), { concurrency })
      if (messages.length < leaseCount) return
    }
  })

  return {
    methods: [...knownMethods],

    dispatcher: (name: string): Dispatcher | undefined => dispatchers.get(name),

    run,

    start: Effect.gen(function* () {
      const wakes = yield* Queue.sliding<void>(1)
      yield* listen(messagesQueued, () => void wakes.unsafeOffer(undefined))
      const deliver = Effect.zipRight(run, Effect.timeoutOption(Queue.take(wakes), options.notificationsFetchInterval))
      yield* Background.repeat("notification_delivery", Effect.zipRight(Worker.begun, deliver))
    }) satisfies Effect.Effect<void, never, EventBus | Scope.Scope>
  }
})

/** Delivers the messages of the queue. */
export class Notifier extends Context.Tag("@atelier/core/Notifier")<Notifier, NotifierService>() {
  static readonly layer = service(Notifier, make)
}
