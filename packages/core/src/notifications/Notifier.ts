import { Context, Duration, Effect, Queue, type Scope } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Background from "../platform/background/Background.js"
import { startUnlessManual } from "../platform/background/BackgroundWork.js"
import { type EventBus, listen } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import { StartError } from "../platform/wiring/StartError.js"
import type { Transactor } from "../platform/store/Transactor.js"
import * as Worker from "../platform/background/Worker.js"
import { type Dispatcher, Dispatchers } from "./Dispatcher.js"
import { Mailer } from "./Mailer.js"
import { InboxRepository, NotificationRepository } from "./NotificationRepository.js"
import { messagesQueued } from "./Notifications.js"
import { service } from "../platform/wiring/Standing.js"
import { ownDispatchers } from "./OwnDispatchers.js"
import { messageDelivery } from "./MessageDelivery.js"

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

const work = "notification_delivery"

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

  const hosted = yield* Dispatchers

  const { byMail, toInbox } = ownDispatchers({ options, mailer, inbox, services })
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

  const { run } = messageDelivery({ dispatchers, options, dispatchTimeout, repository, limits, ids, leaseCount })

  return {
    methods: [...knownMethods],

    dispatcher: (name: string): Dispatcher | undefined => dispatchers.get(name),

    run,

    start: Effect.gen(function* () {
      const wakes = yield* Queue.sliding<void>(1)
      yield* listen(messagesQueued, () => void wakes.unsafeOffer(undefined))
      const deliver = Effect.zipRight(run, Effect.timeoutOption(Queue.take(wakes), options.notificationsFetchInterval))
      yield* startUnlessManual(work, run, Background.repeat(work, Effect.zipRight(Worker.begun, deliver)))
    }) satisfies Effect.Effect<void, never, EventBus | Scope.Scope>
  }
})

/** Delivers the messages of the queue. */
export class Notifier extends Context.Tag("@atelier/core/Notifier")<Notifier, NotifierService>() {
  static readonly layer = service(Notifier, make)
}
