import { StoreUnavailable } from "@atelier/core/platform"
import { SqlClient, SqlError } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { notificationMessages } from "../../src/notifications/NotificationMessages.js"
import { makeStatements } from "../../src/platform/Statements.js"
import { orDefect } from "../../src/platform/Unavailability.js"

it.effect.each(["timeout expired", "Query read timeout", "Connection terminated", "Connection terminated unexpectedly"])(
  "a statement that fails with '%s' says that the store is away",
  (message) =>
    Effect.gen(function* () {
      const cause = new Error(message)
      const exit = yield* Effect.exit(orDefect(Effect.fail(new SqlError.SqlError({ cause }))))
      expect(exit).toStrictEqual(Exit.die(new StoreUnavailable({ reason: "away", cause })))
    })
)

it.effect.each([
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_CORRUPT_INDEX", "damaged"],
  ["XX001", "damaged"],
  ["SQLITE_READONLY_DBMOVED", "read-only"],
  ["25006", "read-only"],
  ["40001", "contended"],
  ["40P01", "contended"],
  ["SQLITE_BUSY_SNAPSHOT", "contended"]
] as const)("a statement that fails with %s says that the store is %s", ([code, reason]) =>
  Effect.gen(function* () {
    const cause = Object.assign(new Error("no"), { code })
    const exit = yield* Effect.exit(orDefect(Effect.fail(new SqlError.SqlError({ cause }))))
    expect(exit).toStrictEqual(Exit.die(new StoreUnavailable({ reason, cause })))
  })
)

it.effect.each(["57014", "55P03", "26000"])("a statement whose wait for a lock was ended (%s) says that the store is away", (code) =>
  Effect.gen(function* () {
    const cause = Object.assign(new Error("canceling statement"), { code })
    const exit = yield* Effect.exit(orDefect(Effect.fail(new SqlError.SqlError({ cause }))))
    expect(exit).toStrictEqual(Exit.die(new StoreUnavailable({ reason: "away", cause })))
  })
)

it.effect.each(["28000", "28P01", "3D000"])("a connection that the server refuses (%s) says that the store is away", (code) =>
  Effect.gen(function* () {
    const cause = Object.assign(new Error("password authentication failed"), { code })
    const exit = yield* Effect.exit(orDefect(Effect.fail(new SqlError.SqlError({ cause }))))
    expect(exit).toStrictEqual(Exit.die(new StoreUnavailable({ reason: "away", cause })))
  })
)

it.scoped("a message is refused as the store being away if its transaction loses its connection", () =>
  Effect.gen(function* () {
    const cause = new Error("Client has encountered a connection error and is not queryable")
    // The driver's transactions die if they cannot be rolled back
    const transaction = () => Effect.die(new SqlError.SqlError({ cause }))
    const sql = makeStatements(yield* SqlClient.SqlClient, { run: () => Effect.succeed([]), batch: () => Effect.void, transaction })
    const exit = yield* Effect.exit(notificationMessages(sql).enqueue([]))
    expect(exit).toStrictEqual(Exit.die(new StoreUnavailable({ reason: "away", cause })))
  }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
)
