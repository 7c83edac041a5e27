// Ticks of the worker that starts, stops and deletes workspaces, and what they read.
import { Timestamp } from "@atelier/core/platform"
import { WorkspaceLifeCycle, WorkspaceLifeCycleRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { idOf } from "./seed.mjs"

/** Ticks for which the seed has other running workspaces each: of ten in a row, the first six run. */
export const ticks = 5

/** Puts a daemon there that could run all builds, and leaves the queue to it: it takes nothing. */
const withDaemon = (sql, kind) =>
  Effect.gen(function* () {
    const [organization] = yield* sql`SELECT id FROM organizations WHERE is_default`
    const now = yield* Timestamp.now
    yield* sql`INSERT INTO provisioner_daemons ${sql.insert({
      id: idOf("user", 0),
      created_at: now,
      organization_id: organization.id,
      name: "idle",
      owner: "",
      provisioners: JSON.stringify(["terraform"]),
      tags: JSON.stringify({ scope: "organization", owner: "" }),
      version: "",
      api_version: "",
      key_id: idOf("user", 0),
      last_seen_at: now
    })} ON CONFLICT (id) DO UPDATE SET last_seen_at = excluded.last_seen_at`
    // What a form depends on is not in the seed
    yield* sql`UPDATE templates SET use_classic_parameter_flow = ${kind === "postgres" ? true : 1}`
  })

/**
 * Makes `due` of `count` workspaces due, spread over all, and runs a tick. Answers the milliseconds it took, how many builds it queued, and how many
 * rows were read to find the workspaces where the database counts them.
 */
export const tick = (sql, kind, { count, due, number }) =>
  Effect.gen(function* () {
    yield* withDaemon(sql, kind)
    const distance = count / due
    const ids = Array.from({ length: due }, (_, index) => idOf("workspace", (index + 1) * distance - 10 + number))
    yield* sql`UPDATE workspace_builds SET deadline = ${"2026-01-01T00:00:00.000Z"} WHERE ${sql.in("workspace_id", ids)} AND NOT superseded`
    const repository = yield* WorkspaceLifeCycleRepository
    const { worker } = yield* WorkspaceLifeCycle
    const times = { tick: yield* Timestamp.now, policies: true, failed_before: [], unused_before: [] }
    const find = repository.due(times, { after: undefined, limit: due * 2 })
    const read = sql`SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_xact_user_tables`
    const counted = kind === "postgres" ? (yield* sql.withTransaction(Effect.zipRight(find, read)))[0]?.rows : undefined
    const begun = performance.now()
    yield* worker.run
    const milliseconds = performance.now() - begun
    const [queued] = yield* sql`SELECT count(*) AS builds FROM workspace_builds WHERE ${sql.in("workspace_id", ids)} AND build_number = 2`
    return { milliseconds, queued: Number(queued.builds), rows: counted === undefined ? undefined : Number(counted) }
  })
