import { UserRepository } from "@atelier/core/identity"
import {
  messageAfter,
  type MessageStatus,
  type NotificationMessage,
  notificationEvents,
  NotificationRepository
} from "@atelier/core/notifications"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Array as Arr, Duration, Effect, Layer, Option, Struct } from "effect"
import { aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

const limits = { maxSendAttempts: 5, retryInterval: Duration.minutes(5), leasePeriod: Duration.minutes(2) }
const count = 2_000
const batch = 200

const statuses = Struct.keys({
  pending: true,
  leased: true,
  sent: true,
  temporary_failure: true,
  permanent_failure: true,
  inhibited: true
} satisfies Record<MessageStatus, true>)

const aMessage = (user_id: Uuid.Uuid, number: number): NotificationMessage => {
  const now = Timestamp.fromMillis(number)
  return {
    id: Uuid.Uuid.make(globalThis.crypto.randomUUID()),
    template_id: notificationEvents.test.id,
    user_id,
    method: "inbox",
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
  }
}

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`queued messages on ${name}`, (it) => {
    it.effect(
      "reach three workers, of which one dies, and twice only where a lease ended",
      () =>
        Effect.gen(function* () {
          const repository = yield* NotificationRepository
          const ids = yield* Ids
          const user = yield* aUser()
          yield* (yield* UserRepository).insert(user, null)
          const messages = Array.from({ length: count }, (_, number) => aMessage(user.id, number))
          expect(yield* repository.enqueue(messages)).toStrictEqual(Option.none())
          expect(yield* repository.enqueue(messages.slice(0, 10))).toStrictEqual(Option.none())

          const deliveries = new Map<Uuid.Uuid, number>()
          /** Works until nothing is due; a worker that dies delivers a part of its first batch and settles nothing of that. */
          const work = (now: Timestamp.Timestamp, dies: boolean) =>
            Effect.gen(function* () {
              for (;;) {
                const lease = { id: yield* ids.next, until: Timestamp.plus(now, limits.leasePeriod), limit: batch, maxSendAttempts: 5 }
                const leased = yield* repository.lease(now, lease)
                for (const [index, message] of leased.entries()) {
                  if (dies && index === 100) return
                  deliveries.set(message.id, (deliveries.get(message.id) ?? 0) + 1)
                  const state = messageAfter(message, { _tag: "Delivered" }, now, limits)
                  if (state !== undefined && !dies) expect(yield* repository.settle(message.id, lease.id, state, now)).toBe(true)
                }
                if (leased.length < batch) return
              }
            })
          const now = Timestamp.fromMillis(count)
          yield* Effect.all([work(now, true), work(now, false), work(now, false)], { concurrency: 3 })
          expect(deliveries.size).toBe(count - batch + 100)
          yield* work(Timestamp.plus(now, "119 seconds"), false)
          expect(deliveries.size).toBe(count - batch + 100)
          const later = Timestamp.plus(now, limits.leasePeriod)
          yield* Effect.all([work(later, false), work(later, false)], { concurrency: 2 })

          const times = [...deliveries.values()]
          expect([deliveries.size, times.filter((one) => one === 2).length, Math.max(...times)]).toStrictEqual([count, 100, 2])
          expect(yield* repository.purge(Timestamp.plus(later, "1 second"), count)).toBe(count)
        }),
      120_000
    )

    it.effect("are leased by core's rule, in every state", () =>
      Effect.gen(function* () {
        const repository = yield* NotificationRepository
        const user = yield* aUser()
        yield* (yield* UserRepository).insert(user, null)
        const now = Timestamp.fromMillis(count)
        const until = Timestamp.plus(now, limits.leasePeriod)
        const times = [null, Timestamp.minus(now, 1), now, Timestamp.plus(now, 1)]
        const messages = Arr.cartesian(statuses, Arr.cartesian([0, limits.maxSendAttempts - 1, limits.maxSendAttempts], times)).map(
          ([status, [attempt_count, due_at]]): NotificationMessage => ({ ...aMessage(user.id, 0), status, attempt_count, due_at })
        )
        expect(yield* repository.enqueue(messages)).toStrictEqual(Option.none())
        const lease = { id: yield* (yield* Ids).next, until, limit: batch, maxSendAttempts: limits.maxSendAttempts }
        const leased = yield* repository.lease(now, lease)
        const expected = messages.flatMap((message) => {
          const state = messageAfter(message, { _tag: "Lease" }, now, limits)
          return state === undefined ? [] : [[message.id, state.status, state.due_at]]
        })
        expect(new Set(leased.map(({ due_at, id, status }) => [id, status, due_at]))).toStrictEqual(new Set(expected))
        const state = { status: "sent", status_reason: "", attempt_count: 1, due_at: null } as const
        const held = new Set(leased.map(({ id }) => id))
        for (const { id } of messages) expect(yield* repository.settle(id, lease.id, state, now)).toBe(held.has(id))
      })
    )

    it.effect("that the store refuses leave the surrounding transaction as it was", () =>
      Effect.gen(function* () {
        const repository = yield* NotificationRepository
        const refused = yield* repository.enqueue([aMessage(Uuid.Uuid.make(globalThis.crypto.randomUUID()), 1)])
        expect(Option.isSome(refused)).toBe(true)
      })
    )
  })
}
