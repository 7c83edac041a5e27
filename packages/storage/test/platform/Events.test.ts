import { Events, publish, transaction } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const written = Events.channel("written", Schema.String)

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`an event of a transaction on ${name}`, (it) => {
    it.scoped("is sent after the commit, also for a caller that has gone", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const heard: Array<string> = []
        const done = yield* Deferred.make<void>()
        yield* Events.listen(written, (delivery) => {
          if (delivery._tag === "Lost") return
          heard.push(delivery.event)
          if (delivery.event === "last") Deferred.unsafeDone(done, Effect.void)
        })
        const change = transaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO deployment_values ${sql.insert({ key: "change", value: "" })}`
            yield* publish(written, "change")
            // Reaches the fiber while it waits for the commit
            yield* Effect.withFiberRuntime<void>((fiber) =>
              Effect.sync(() => queueMicrotask(() => Effect.runFork(Fiber.interruptFork(fiber))))
            )
          })
        )
        yield* Fiber.await(yield* Effect.fork(change))
        const stored = yield* sql`SELECT key FROM deployment_values WHERE key = 'change'`
        yield* publish(written, "last")
        yield* Deferred.await(done)
        expect([stored, heard]).toStrictEqual([[{ key: "change" }], ["change", "last"]])
      })
    )
  })
}
