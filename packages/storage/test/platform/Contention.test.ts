import { StoreUnavailable, transaction } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { postgres } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { run } from "../../src/platform/Statement.js"
import { Statements } from "../../src/platform/Statements.js"

/** Fails as the loser of a deadlock does. */
const losing = "DO $$ BEGIN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END $$"

layer(Layer.merge(postgres, runtime), { excludeTestServices: true })(
  "a transaction that the store aborts for others on PostgreSQL",
  (it) => {
    it.effect("runs again, and tells after five attempts that the store is contended", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        let attempts = 0
        const attempt = Effect.suspend(() => {
          attempts += 1
          return run(sql.run(losing))
        })
        const exit = yield* Effect.exit(transaction(attempt))
        expect(attempts).toBe(5)
        expect(exit).toStrictEqual(
          Exit.die(new StoreUnavailable({ reason: "contended", cause: expect.objectContaining({ code: "40P01" }) }))
        )
        expect(yield* transaction(Effect.suspend(() => (attempts++ < 6 ? run(sql.run(losing)) : Effect.succeed("done"))))).toBe("done")
      })
    )
  }
)
