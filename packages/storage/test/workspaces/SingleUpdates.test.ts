/** How often triggers write the row of a workspace. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aBuild, aWorkspace, moveBuild } from "../../../../test/records/agentWorkspaces.js"
import { postgres } from "../../../../test/store/databases.js"
import { Statements } from "../../src/platform/Statements.js"
import { agentServices } from "../agents/services.js"

/** How many rows of workspaces a transaction updates. */
const updatesBy = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    // PostgreSQL also counts what the session has not told others yet
    const counted = Effect.map(
      sql<{
        readonly updates: number
      }>`SELECT CAST(n_tup_upd AS integer) AS updates FROM pg_stat_xact_user_tables WHERE relname = 'workspaces'`,
      (rows) => rows[0]?.updates ?? 0
    )
    return yield* sql.transaction(
      Effect.gen(function* () {
        const before = yield* counted
        const made = yield* change
        return [made, (yield* counted) - before] as const
      })
    )
  })

layer(agentServices(postgres))("the row of a workspace on PostgreSQL", (it) => {
  it.effect("is updated once by a new build and by a job that moves", () =>
    Effect.gen(function* () {
      const stored = yield* aWorkspace()
      yield* aBuild(stored)
      const [next, byBuild] = yield* updatesBy(aBuild(stored, { transition: "stop", status: "pending" }))
      const [, byJob] = yield* updatesBy(moveBuild(next, "succeeded"))
      expect({ byBuild, byJob }).toStrictEqual({ byBuild: 1, byJob: 1 })
    })
  )
})
