import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../deployment/DeploymentValues.js"
import { lockedAccount } from "../identity/users/Account.js"
import { AccountRepository } from "../identity/users/AccountRepository.js"
import type { UserId } from "../identity/users/User.js"
import { Users } from "../identity/users/Users.js"
import type { EventBus } from "../platform/events/EventBus.js"
import { Encryption } from "../platform/secrets/Encryption.js"
import { Invalid, NotFound, refuseViolations, UpstreamFailure, validationsOf, type Forbidden } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import { transaction, type Transactor } from "../platform/store/Transactor.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { PushSubscriptionRepository } from "./NotificationRepository.js"
import { keysValue, readKeys, writeKeys } from "./PushKeySealing.js"
import { NotPushed, type PushKeys, PushSenders } from "./PushSender.js"
import { endpointViolation, keyViolations, type PushTarget } from "./PushSubscription.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"

/** What a browser shows. */
export interface PushMessage {
  readonly icon: string
  readonly title: string
  readonly body: string
  readonly tag?: string
  readonly actions: ReadonlyArray<{ readonly label: string; readonly url: string }>
  readonly data?: Readonly<Record<string, string>>
}

/** Subscriptions of one user: one for each browser. */
const maximumSubscriptions = 50

/** Calls of push services at once, for one message. */
const concurrency = 5

const testMessage: PushMessage = {
  icon: "/favicon.ico",
  title: "A test notification",
  body: "This is a test notification. If you can read it, push messages arrive.",
  actions: []
}

/** The methods of {@link WebPush}. */
export interface WebPushService {
  /** The public half of the deployment's keys, which browsers subscribe with; empty without keys. */
  readonly publicKey: Effect.Effect<string>

  /**
   * Subscribes a browser of a user, which is sent a test message first. An endpoint that the user has already gets the new keys. Fails with
   * `NotFound` or `Forbidden` if the actor may not, with `Invalid` for an endpoint or keys that cannot be, and with `UpstreamFailure` if the push service
   * cannot be reached. §A9.
   */
  readonly subscribe: (
    reference: string,
    target: PushTarget
  ) => Effect.Effect<undefined, Invalid | Forbidden | NotFound | UpstreamFailure, CurrentActor | EventBus | Transactor>

  /** Ends the subscription of a browser. Fails with `NotFound` if the user has no such subscription. §A9. */
  readonly unsubscribe: (reference: string, endpoint: string) => Effect.Effect<undefined, Forbidden | NotFound, CurrentActor>

  /** Pushes a message that says it is a test to all browsers of a user. Fails with `UpstreamFailure` if one of them could not be reached. §A9. */
  readonly test: (reference: string) => Effect.Effect<void, Forbidden | NotFound | UpstreamFailure, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* PushSubscriptionRepository
  const values = yield* DeploymentValues
  const encryption = yield* Encryption
  const users = yield* Users
  const accounts = yield* AccountRepository
  const ids = yield* Ids
  const { accessUrl } = yield* DeploymentOptions
  const sender = yield* PushSenders
  const services = yield* Effect.context<EventBus | Transactor>()

  const sealed = ({ private_key, public_key }: PushKeys) =>
    Effect.map(encryption.seal(new TextEncoder().encode(private_key), keysValue), ({ ciphertext, key_id }) =>
      writeKeys({ public_key, key_id, private_key: ciphertext })
    )

  const opened = (text: string) =>
    Effect.gen(function* () {
      const { key_id, private_key, public_key } = yield* readKeys(text)
      const secret = yield* encryption.open({ key_id, ciphertext: private_key }, keysValue)
      return { keys: { public_key, private_key: new TextDecoder().decode(secret) }, isCurrent: key_id === encryption.keyId }
    })

  /** The deployment's keys. New ones, where the stored ones cannot be read, are unknown to browsers: their subscriptions go. */
  const keys = Effect.gen(function* () {
    if (sender === undefined) return yield* new NotPushed({ reason: "no sender of push messages is configured", isLasting: false })
    const present = Option.getOrUndefined(yield* values.get(keysValue))
    if (present === undefined) {
      const fresh = yield* Effect.flatMap(sender.generateKeys, sealed)
      const stored = yield* opened(yield* values.getOrInsert(keysValue, fresh))
      return stored.keys
    }
    const found = yield* Effect.option(opened(present))
    if (Option.isNone(found)) {
      const fresh = yield* Effect.flatMap(sender.generateKeys, sealed)
      yield* Effect.gen(function* () {
        // Another replica may have been faster: its keys count
        if (!(yield* values.replace(keysValue, present, fresh))) return
        yield* Effect.logError("the keys of web push cannot be read; new ones end all subscriptions")
        yield* repository.deleteAll
      }).pipe(transaction, Effect.provide(services))
      return (yield* Effect.flatMap(Effect.flatten(values.get(keysValue)), opened)).keys
    }
    if (!found.value.isCurrent) yield* Effect.flatMap(sealed(found.value.keys), (text) => values.replace(keysValue, present, text))
    return found.value.keys
  }).pipe(
    Effect.catchTags({
      NoSuchElementException: () => new NotPushed({ reason: "the keys of web push cannot be read", isLasting: false }),
      Undecipherable: () => new NotPushed({ reason: "the keys of web push cannot be read", isLasting: false })
    })
  )

  const push = (to: PushTarget, message: PushMessage) =>
    Effect.flatMap(keys, (pair) =>
      sender === undefined
        ? Effect.void
        : sender.send(to, new TextEncoder().encode(JSON.stringify(message)), { ...pair, subject: accessUrl })
    )

  const requireRoom = (user_id: UserId, target: PushTarget) =>
    Effect.flatMap(repository.ofUser(user_id), (present) =>
      present.length >= maximumSubscriptions && present.every(({ endpoint }) => endpoint !== target.endpoint)
        ? new Invalid({ message: `A user can have at most ${maximumSubscriptions} subscriptions.` })
        : Effect.void
    )

  const notDelivered = new UpstreamFailure({ message: "The push message could not be delivered." })

  /** Pushes a message to all browsers of a user, and forgets those that no message will reach. */
  const send = (userId: Uuid, message: PushMessage) =>
    Effect.gen(function* () {
      const subscriptions = yield* repository.ofUser(userId)
      const results = yield* Effect.forEach(
        subscriptions,
        (subscription) =>
          Effect.catchAll(Effect.as(push(subscription, message), true), ({ isLasting, reason }) =>
            Effect.logWarning("a push message could not be delivered", { subscription: subscription.id, reason }).pipe(
              Effect.zipRight(isLasting ? repository.delete(userId, subscription.endpoint) : Effect.void),
              Effect.as(isLasting)
            )
          ),
        { concurrency }
      )
      if (results.includes(false)) return yield* notDelivered
    })

  return {
    publicKey: keys.pipe(
      Effect.map(({ public_key }) => public_key),
      Effect.catchAll(({ reason }) => Effect.as(Effect.logDebug("there is no web push", { reason }), ""))
    ),

    subscribe: Traced.fn("WebPush.subscribe")(function* (reference: string, target: PushTarget) {
      const { id: user_id } = yield* users.holder(reference)
      yield* refuseViolations(validationsOf({ endpoint: endpointViolation(target.endpoint), ...keyViolations(target) }))
      yield* Access.authorize("create", AccessObjects.ownedBy("webpush_subscription", user_id))
      yield* requireRoom(user_id, target)
      const failure = yield* Effect.flip(Effect.asVoid(push(target, testMessage))).pipe(Effect.option)
      if (Option.isSome(failure)) {
        const { isLasting, reason } = failure.value
        yield* Effect.logInfo("a browser could not be subscribed", { reason })
        if (isLasting) return yield* Invalid.field("endpoint", "refuses push messages for this subscription")
        return yield* notDelivered
      }
      const subscription = { ...target, id: yield* ids.next, user_id, created_at: yield* Timestamp.now }
      yield* transaction(
        Effect.gen(function* () {
          // Others may have been stored while the push service was asked
          yield* lockedAccount(accounts, user_id)
          yield* requireRoom(user_id, target)
          yield* repository.upsert(subscription)
        })
      )
    }),

    unsubscribe: Traced.fn("WebPush.unsubscribe")(function* (reference: string, endpoint: string) {
      const { id } = yield* users.holder(reference)
      yield* Access.authorize("delete", AccessObjects.ownedBy("webpush_subscription", id))
      if (!(yield* repository.delete(id, endpoint))) return yield* new NotFound({ resource: "webpush_subscription" })
    }),

    test: Traced.fn("WebPush.test")(function* (reference: string) {
      const { id } = yield* users.holder(reference)
      yield* Access.authorize("create", AccessObjects.ownedBy("notification_message", id))
      yield* send(id, testMessage)
    })
  }
})

/** Messages to users' browsers. */
export class WebPush extends Context.Tag("@atelier/core/WebPush")<WebPush, WebPushService>() {
  static readonly layer = standingOn(service(WebPush, make), Users.layer)
}
