/** Clients that do not read their watch of the inbox. notifications-audit-insights.md §A8. */
import { Access, SystemActor } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { Inbox, inboxEvents, InboxRepository, notificationEvents } from "@atelier/core/notifications"
import { Ids, publish, Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { aUser } from "../../../../test/records/builders.js"
import { sqlite } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

layer(Inbox.layer.pipe(Layer.provideMerge(Layer.merge(sqlite, runtime))))("a watch of the inbox", (it) => {
  it.effect("keeps ten notifications for a client that does not read, and loses later ones", () =>
    Effect.gen(function* () {
      const user = yield* aUser()
      yield* (yield* UserRepository).insert(user, null)
      const inbox = yield* InboxRepository
      const ids = yield* Ids
      const notify = (title: string) =>
        Effect.gen(function* () {
          const id = yield* ids.next
          const common = { user_id: user.id, template_id: notificationEvents.test.id, targets: [], content: "", actions: [], read_at: null }
          yield* inbox.insert({ ...common, id, title, created_at: yield* Timestamp.now })
          yield* publish(inboxEvents(user.id), { id })
        })

      const { values } = yield* Effect.flatMap(Inbox, (one) => one.watch({ targets: [], templates: [], read_status: "" }, "")).pipe(
        Access.actingAs({ ...SystemActor.systemRestricted, userId: user.id })
      )
      const [stuck, reads] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const seen: Array<string> = []
      const watching = yield* Stream.runForEach(values, ({ notification }) =>
        Effect.gen(function* () {
          seen.push(notification.title)
          yield* Deferred.succeed(stuck, undefined)
          yield* Deferred.await(reads)
        })
      ).pipe(Effect.fork)
      // The first is seen once the watch has begun
      yield* Effect.raceFirst(Effect.forever(Effect.zipRight(notify("first"), Effect.yieldNow())), Deferred.await(stuck))
      const before = seen.length
      for (let number = 0; number < 100; number++) yield* notify(String(number))
      yield* Deferred.succeed(reads, undefined)
      yield* notify("last").pipe(Effect.zipRight(Effect.yieldNow()), Effect.repeat({ until: () => seen.includes("last") }))
      yield* Fiber.interrupt(watching)

      expect(before).toBe(1)
      // The one that the client was stuck at, and those that were kept for it
      const kept = seen.indexOf("last")
      expect([11, 12]).toContain(kept)
    })
  )
})
