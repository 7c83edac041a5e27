/** Purges that wait for a row of another's transaction: the row may be in use once that has ended. */
import { ApiKeyRepository, UserRepository } from "@atelier/core/identity"
import { ConnectionLogRepository } from "@atelier/core/logs"
import { OAuth2AppRepository } from "@atelier/core/oauth2"
import { Ids, Timestamp, Transactor } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { aUser } from "../../../../test/records/builders.js"
import { aStoredKey } from "../../../../test/records/keys.js"
import { aStoredApp } from "../../../../test/records/oauth2Apps.js"
import { postgres } from "../../../../test/store/databases.js"
import { untilLockWaiters } from "../../../../test/store/lockWaiters.js"
import { storeRow } from "../../../../test/store/schema.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Runs a change, and commits it while a purge waits for its row. Returns how many rows the purge has deleted. */
const committedWhileWaiting = <R, S>(change: Effect.Effect<unknown, unknown, R>, purge: Effect.Effect<number, never, S>) =>
  Effect.gen(function* () {
    const { atomically } = yield* Transactor
    const [isChanged, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const changing = Effect.zipRight(change, Effect.zipRight(Deferred.succeed(isChanged, undefined), Deferred.await(mayCommit)))
    const changed = yield* Effect.fork(atomically(changing))
    yield* Deferred.await(isChanged)
    const purged = yield* Effect.fork(purge)
    yield* untilLockWaiters(1)
    yield* Deferred.succeed(mayCommit, undefined)
    yield* Fiber.join(changed)
    return yield* Fiber.join(purged)
  })

const fresh = Effect.flatMap(Ids, ({ next }) => next)

const aRegisteredApp = aStoredApp({ dynamically_registered: true })

layer(Layer.merge(postgres, runtime), { excludeTestServices: true })("a purge on PostgreSQL", (it) => {
  it.effect("spares a client whose first use is stored while it waits", () =>
    Effect.gen(function* () {
      const apps = yield* OAuth2AppRepository
      const [used, unused] = [yield* aRegisteredApp, yield* aRegisteredApp]
      const now = yield* Timestamp.now
      const purge = apps.deleteUnused(Timestamp.plus(now, "1 hour"), 10)
      expect(yield* committedWhileWaiting(apps.recordUse(used.id, now), purge)).toBe(1)
      expect(yield* apps.byId(used.id)).toMatchObject({ _tag: "Some" })
      expect(yield* apps.byId(unused.id)).toMatchObject({ _tag: "None" })
    })
  )

  it.effect("spares a session that is prolonged while it waits", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const keys = yield* ApiKeyRepository
      const user = yield* aUser()
      yield* (yield* UserRepository).insert(user, null)
      const { id } = yield* aStoredKey(user, (now) => ({ login_type: "password", expires_at: Timestamp.minus(now, "1 second") }))
      const now = yield* Timestamp.now
      const prolong = sql`UPDATE api_keys SET expires_at = ${Timestamp.plus(now, "1 day")} WHERE id = ${id}`
      expect(yield* committedWhileWaiting(prolong, keys.deleteExpired(now, 10))).toBe(0)
      expect(yield* keys.byId(id)).toMatchObject({ _tag: "Some" })
    })
  )

  it.effect("leaves a connection its own end, which is stored while the end of its process waits", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const logs = yield* ConnectionLogRepository
      const [own, crashed, id] = [yield* fresh, yield* fresh, yield* fresh]
      const now = yield* Timestamp.now
      const since = Timestamp.minus(now, "5 minutes")
      const { organization, owner, workspace } = yield* aWorkspace()
      yield* storeRow("connection_logs", {
        id,
        connection_id: id,
        replica_id: crashed,
        connect_time: Timestamp.minus(now, "1 hour"),
        organization_id: organization.id,
        workspace_id: workspace.id,
        workspace_owner_id: owner.id,
        agent_name: "main",
        type: "ssh"
      })
      const end = sql`UPDATE connection_logs SET disconnect_time = ${since}, disconnect_reason = 'left' WHERE id = ${id}`
      const ending = logs.endAbandoned({ own, since, now, reason: "gone", limit: 10 })
      expect(yield* committedWhileWaiting(end, ending)).toBe(0)
      expect(yield* sql`SELECT disconnect_reason FROM connection_logs WHERE id = ${id}`).toStrictEqual([{ disconnect_reason: "left" }])
    })
  )
})
