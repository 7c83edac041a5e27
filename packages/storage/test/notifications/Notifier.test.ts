/** Two processes that deliver the messages of one queue. */
import { DeploymentOptions } from "@atelier/core/deployment"
import { UserRepository } from "@atelier/core/identity"
import { Dispatchers, type NotificationMessage, notificationEvents, NotificationRepository, Notifier } from "@atelier/core/notifications"
import { StoreUnavailable, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Option, TestClock } from "effect"
import { aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

/** More than are sent at once: a lease of two minutes ends before the last ones are. */
const count = 30

const sent: Array<string> = []
const slowly = Layer.succeed(Dispatchers, [
  {
    method: "slow",
    dispatch: ({ id }) =>
      Effect.delay(
        Effect.sync(() => void sent.push(id)),
        "50 seconds"
      )
  },
  { method: "silent", dispatch: () => Effect.uninterruptible(Effect.never) }
])

const leasingAll = Layer.effect(
  DeploymentOptions,
  Effect.map(DeploymentOptions, (options) => ({ ...options, notificationsLeaseCount: 50 }))
)

const aMessage = (user_id: Uuid.Uuid, now: Timestamp.Timestamp, method = "slow"): NotificationMessage => ({
  id: Uuid.Uuid.make(globalThis.crypto.randomUUID()),
  template_id: notificationEvents.test.id,
  user_id,
  method,
  status: "pending",
  status_reason: "",
  attempt_count: 0,
  due_at: now,
  created_by: "test",
  payload: { user_name: "n", user_username: "n", user_email: "", labels: {}, data: null, actions: [] },
  targets: [],
  created_at: now,
  updated_at: now,
  dedupe_hash: globalThis.crypto.randomUUID()
})

const aStoredUser = Effect.gen(function* () {
  sent.length = 0
  const now = yield* Timestamp.now
  const { id } = yield* Effect.tap(aUser(), (user) => Effect.flatMap(UserRepository, (users) => users.insert(user, null)))
  return { id, now }
})

/** Lets time go by until something has happened. */
const until = (happened: Effect.Effect<boolean>) =>
  Effect.repeat(
    Effect.zipRight(
      Effect.zipRight(
        TestClock.adjust("1 second"),
        Effect.promise(() => new Promise(setImmediate))
      ),
      happened
    ),
    {
      until: (has) => has
    }
  )

for (const [name, database] of databases) {
  /** Results that cannot be stored at their first try. */
  let failures = 0
  let beforeSettling: Effect.Effect<unknown> = Effect.void
  const failing = Layer.map(database, (context) => {
    const repository = Context.get(context, NotificationRepository)
    const settle: typeof repository.settle = (...result) =>
      Effect.suspend(() => {
        if (failures === 0) return Effect.zipRight(beforeSettling, repository.settle(...result))
        failures -= 1
        return Effect.die(new StoreUnavailable({ reason: "away", cause: "a test" }))
      })
    return Context.add(context, NotificationRepository, { ...repository, settle })
  })
  const services = Notifier.layer.pipe(Layer.provide(Layer.merge(slowly, leasingAll)), Layer.provideMerge(Layer.merge(failing, runtime)))
  layer(services)(`processes that deliver messages on ${name}`, (it) => {
    it.effect("send each once, also where a lease ends before all of its messages are sent", () =>
      Effect.gen(function* () {
        const { id, now } = yield* aStoredUser
        const messages = Array.from({ length: count }, () => aMessage(id, now))
        const ids = messages.map((message) => message.id)
        expect(yield* (yield* NotificationRepository).enqueue(messages)).toStrictEqual(Option.none())
        const { run } = yield* Notifier
        const first = yield* Effect.fork(run)
        yield* until(Effect.map(Clock.currentTimeMillis, (millis) => millis - Timestamp.toMillis(now) > 121_000))
        const second = yield* Effect.fork(run)
        yield* until(Effect.map(Fiber.poll(first), Option.isSome))
        yield* until(Effect.map(Fiber.poll(second), Option.isSome))
        expect(sent.toSorted()).toStrictEqual(ids.toSorted())
      })
    )

    it.effect("send a message once whose result cannot be stored at first", () =>
      Effect.gen(function* () {
        const { id, now } = yield* aStoredUser
        const message = aMessage(id, now)
        yield* (yield* NotificationRepository).enqueue([message])
        const { run } = yield* Notifier
        failures = 1
        const first = yield* Effect.fork(run)
        yield* until(Effect.map(Fiber.poll(first), Option.isSome))
        expect(failures).toBe(0)
        // Its lease has ended by then
        yield* TestClock.adjust("3 minutes")
        const second = yield* Effect.fork(run)
        yield* until(Effect.map(Fiber.poll(second), Option.isSome))
        expect(sent).toStrictEqual([message.id])
      })
    )

    it.effect("send a message once whose process stops before its result is stored", () =>
      Effect.gen(function* () {
        const { id, now } = yield* aStoredUser
        const message = aMessage(id, now)
        yield* (yield* NotificationRepository).enqueue([message])
        const { run } = yield* Notifier
        const first = yield* Effect.fork(run)
        const aWhile = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
        beforeSettling = Effect.zipRight(Fiber.interruptFork(first), aWhile)
        yield* until(Effect.map(Fiber.poll(first), Option.isSome))
        beforeSettling = Effect.void
        yield* TestClock.adjust("3 minutes")
        const second = yield* Effect.fork(run)
        yield* until(Effect.map(Fiber.poll(second), Option.isSome))
        expect(sent).toStrictEqual([message.id])
      })
    )

    it.effect("go on after a dispatcher that does not answer and cannot be interrupted", () =>
      Effect.gen(function* () {
        const { id, now } = yield* aStoredUser
        const later = aMessage(id, now)
        yield* (yield* NotificationRepository).enqueue([aMessage(id, now, "silent"), later])
        const running = yield* Effect.fork((yield* Notifier).run)
        yield* until(Effect.map(Clock.currentTimeMillis, (millis) => millis - Timestamp.toMillis(now) > 121_000))
        expect(Option.isSome(yield* Fiber.poll(running))).toBe(true)
        expect(sent).toStrictEqual([later.id])
      })
    )
  })
}
