import { type Duration, Effect, Exit, Schedule } from "effect"
import type { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Background from "../platform/background/Background.js"
import type { Ids } from "../platform/Ids.js"
import * as Measure from "../platform/Measure.js"
import { whileUnavailable } from "../platform/store/StoreUnavailable.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Dispatcher } from "./Dispatcher.js"
import { dispatchWithin } from "./dispatchWithin.js"
import { notificationEventsById } from "./NotificationEvents.js"
import { messageAfter, type MessageEvent } from "./NotificationQueue.js"
import type { LeasedMessage, NotificationRepository } from "./NotificationRepository.js"
import { outgoingOf } from "./Rendering.js"

/** How a result is stored while the store is unavailable: a message whose result is not stored is sent again. */
const storing = Schedule.upTo(Schedule.spaced("1 second"), "10 seconds")

/** Deliveries of one process at once. */
const concurrency = 10

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

interface Needs {
  readonly dispatchers: ReadonlyMap<string, Dispatcher>
  readonly options: DeploymentOptions["Type"]
  readonly dispatchTimeout: Duration.Duration
  readonly repository: NotificationRepository["Type"]
  readonly limits: { readonly maxSendAttempts: number; readonly retryInterval: Duration.Duration; readonly leasePeriod: Duration.Duration }
  readonly ids: Ids["Type"]
  readonly leaseCount: number
}

/** The delivery of the messages that wait, each under a lease. */
export const messageDelivery = ({ dispatchers, options, dispatchTimeout, repository, limits, ids, leaseCount }: Needs) => {
  const attempt = (message: LeasedMessage): Effect.Effect<MessageEvent> => {
    if (!message.is_wanted) return Effect.succeed({ _tag: "Inhibited", reason: "the user does not want it" })
    const dispatcher = dispatchers.get(message.method)
    const known = notificationEventsById.get(message.template_id)
    const impossible = (reason: string) => Effect.succeed<MessageEvent>({ _tag: "Failed", reason, retryable: false })
    if (dispatcher === undefined) return impossible(`the method ${message.method} is not configured`)
    if (known === undefined) return impossible("the event is unknown to this version of the service")
    return dispatchWithin(dispatchTimeout, dispatcher, outgoingOf(known, message, options.accessUrl)).pipe(
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

  /** Attempts a delivery and stores its result, also if the process stops between the two. */
  const deliver = (message: LeasedMessage, lease: { readonly until: Timestamp.Timestamp }) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (!(yield* restore(isHeld(message, lease)))) return
        const event = yield* restore(measured(message))
        if (event._tag === "Failed") {
          yield* Effect.logWarning("a notification could not be delivered", { reason: event.reason, retryable: event.retryable })
        }
        const now = yield* Timestamp.now
        const state = messageAfter(message, event, now, limits)
        if (state === undefined) return
        yield* whileUnavailable(storing)(repository.settle(message.id, message.lease_id, state, now))
        synced().update(1)
      })
    ).pipe(
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

  return { run }
}
