import { StoreUnavailable } from "@atelier/core/platform"
import { SqlError } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { orDefect } from "../../src/platform/Unavailability.js"

it.effect.each(["Query read timeout", "Connection terminated", "Connection terminated unexpectedly"])(
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
  ["25006", "read-only"]
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
