import { Background, transaction } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Requests are served with and without spans, and a statement that has one takes another way to the database. */
const ways = [
  ["traced", true],
  ["untraced", false]
] as const

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`statements on ${name}`, (it) => {
    it.scoped.each(ways)("of work that is started in a transaction have no part in it, %s", ([way, traced]) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const done = yield* Deferred.make<void>()
        const insert = sql`INSERT INTO deployment_values ${sql.insert({ key: `by background work, ${way}`, value: "" })}`
        const failing = Effect.gen(function* () {
          yield* Background.once("writing", Effect.zipRight(transaction(insert), Deferred.succeed(done, undefined)))
          yield* Effect.yieldNow()
          yield* sql`SELECT 1`
          return yield* Effect.fail("rolled back")
        })
        expect(yield* Effect.flip(transaction(failing))).toBe("rolled back")
        yield* Deferred.await(done)
        expect(yield* sql`SELECT key FROM deployment_values WHERE key = ${`by background work, ${way}`}`).toHaveLength(1)
      }).pipe(Effect.withTracerEnabled(traced))
    )

    it.effect.each(ways)("never see what another's transaction has not committed, %s", ([way, traced]) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const written = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const keys = Effect.map(sql<{ key: string }>`SELECT key FROM deployment_values WHERE key LIKE ${`${way}%`} ORDER BY key`, (rows) =>
          rows.map(({ key }) => key)
        )
        const insert = (key: string) => sql`INSERT INTO deployment_values ${sql.insert({ key: `${way} ${key}`, value: "" })}`

        const failing = yield* Effect.fork(
          Effect.flip(
            transaction(
              Effect.gen(function* () {
                yield* insert("rolled back")
                const seen = yield* keys
                yield* Deferred.succeed(written, undefined)
                yield* Deferred.await(goOn)
                return yield* Effect.fail(seen)
              })
            )
          )
        )
        yield* Deferred.await(written)
        const reader = yield* Effect.fork(keys)
        const writer = yield* Effect.fork(insert("kept"))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(goOn, undefined)

        expect(yield* Fiber.join(failing)).toStrictEqual([`${way} rolled back`])
        expect(yield* Fiber.join(reader)).not.toContain(`${way} rolled back`)
        yield* Fiber.join(writer)
        expect(yield* keys).toStrictEqual([`${way} kept`])
      }).pipe(Effect.withTracerEnabled(traced))
    )

    it.effect.each(ways)("of a transaction that is interrupted leave the database usable, %s", ([way, traced]) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.fork(
          transaction(
            Effect.gen(function* () {
              yield* sql`INSERT INTO deployment_values ${sql.insert({ key: `${way} interrupted`, value: "" })}`
              yield* Deferred.succeed(begun, undefined)
              return yield* Effect.never
            })
          )
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        expect(yield* sql`SELECT key FROM deployment_values WHERE key = ${`${way} interrupted`}`).toStrictEqual([])
        yield* transaction(sql`INSERT INTO deployment_values ${sql.insert({ key: `${way} interrupted`, value: "" })}`)
      }).pipe(Effect.withTracerEnabled(traced))
    )

    it.effect.each(ways)("of a transaction that cannot be committed leave the database usable, %s", ([way, traced]) =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const table = `checked_late_${way}`
        yield* sql.batch([
          `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES ${table} (id) DEFERRABLE INITIALLY DEFERRED)`
        ])
        const insert = (row: { readonly id: number; readonly parent: number }) =>
          transaction(sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`)
        expect(Exit.isFailure(yield* Effect.exit(insert({ id: 1, parent: 2 })))).toBe(true)
        yield* insert({ id: 3, parent: 3 })
        expect(yield* sql`SELECT id FROM ${sql(table)}`).toStrictEqual([{ id: 3 }])
      }).pipe(Effect.withTracerEnabled(traced))
    )
  })
}
