/** A request sees what the store has when it begins, though the store keeps the sessions of earlier requests. It keeps none of requests with spans. */
import { AccountRepository, ApiKeyRepository, SessionRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, transaction } from "@atelier/core/platform"
import { Statements } from "@atelier/storage"
import { Sqlite } from "@atelier/storage-sqlite"
import { expect, it, layer } from "@effect/vitest"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { SqlClient } from "@effect/sql"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { anOrganization } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { anotherSession, aSession } from "./aSession.js"

const sessionOf = (id: string) =>
  Effect.flatMap(SessionRepository, (sessions) => Effect.map(Effect.withTracerEnabled(sessions.byKeyId(id), false), Option.getOrThrow))

const knownOf = (id: string) => Effect.map(SessionRepository, (sessions) => sessions.knownByKeyId(id))

const rightsOf = (id: string) => Effect.map(sessionOf(id), ({ rights }) => rights.read())

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`a session that ${name} has answered before`, (it) => {
    it.effect("has the present status, roles and memberships of its user", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { id, user } = yield* aSession
        expect((yield* sessionOf(id)).status).toBe("active")
        yield* sql`UPDATE users SET status = 'suspended' WHERE id = ${user.id}`
        expect((yield* sessionOf(id)).status).toBe("suspended")
        yield* (yield* AccountRepository).updateRoles({ ...user, rbac_roles: ["auditor"] })
        expect((yield* rightsOf(id)).siteRoles).toStrictEqual(["auditor"])
        expect((yield* sessionOf(id)).user().rbac_roles).toStrictEqual(["auditor"])
        const other = yield* anOrganization()
        yield* (yield* OrganizationRepository).insert(other)
        yield* (yield* OrganizationRepository).addMember({
          organization_id: other.id,
          user_id: user.id,
          roles: [],
          created_at: yield* Timestamp.now
        })
        expect((yield* rightsOf(id)).memberships.map(({ organizationId }) => organizationId)).toContain(other.id)
      })
    )

    it.effect("has the same user as another of the same user, as long as the user is as before", () =>
      Effect.gen(function* () {
        const first = yield* aSession
        const second = yield* anotherSession(first.user)
        const before = (yield* sessionOf(first.id)).user()
        expect((yield* sessionOf(second)).user()).toBe(before)
        expect((yield* sessionOf(first.id)).user()).toBe(before)
        yield* (yield* AccountRepository).updateRoles({ ...first.user, rbac_roles: ["auditor"] })
        const after = (yield* sessionOf(second)).user()
        expect(after.rbac_roles).toStrictEqual(["auditor"])
        expect((yield* sessionOf(first.id)).user()).toBe(after)
      })
    )

    it.effect("expires, and ends with its key", () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeyRepository
        const sessions = yield* SessionRepository
        const { id } = yield* aSession
        yield* sessionOf(id)
        const now = yield* Timestamp.now
        yield* keys.expire(id, now)
        expect((yield* sessionOf(id)).expires_at).toBe(now)
        yield* keys.delete(id)
        expect(yield* Effect.withTracerEnabled(sessions.byKeyId(id), false)).toStrictEqual(Option.none())
      })
    )

    it.effect("is as a transaction has changed it, for as long as it is open", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { id, user } = yield* aSession
        const suspended = Effect.gen(function* () {
          yield* sessionOf(id)
          yield* sql`UPDATE users SET status = 'suspended' WHERE id = ${user.id}`
          const { status } = yield* sessionOf(id)
          return yield* Effect.fail(status)
        })
        expect(yield* Effect.flip(transaction(suspended))).toBe("suspended")
        expect((yield* sessionOf(id)).status).toBe("active")
      })
    )
  })
}

layer(Layer.merge(databases[0][1], runtime))("on SQLite", (it) => {
  it.effect("a session is read again only once something was written", () =>
    Effect.gen(function* () {
      const { id } = yield* aSession
      const first = yield* sessionOf(id)
      expect(yield* sessionOf(id)).toBe(first)
      expect(yield* knownOf(id)).toBe(first)
      yield* aSession
      expect(yield* knownOf(id)).toBeUndefined()
      expect(yield* sessionOf(id)).not.toBe(first)
    })
  )
})

it.scopedLive("on SQLite a session is not what a host wrote in a transaction that it rolled back", () =>
  Effect.gen(function* () {
    const { id, user } = yield* aSession
    const client = yield* SqlClient.SqlClient
    for (const sql of [client, client.safe, yield* SqliteClient.SqliteClient]) {
      const written = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const host = yield* sql`UPDATE users SET status = 'suspended' WHERE id = ${user.id}`.pipe(
        Effect.zipRight(Deferred.succeed(written, undefined)),
        Effect.zipRight(Deferred.await(mayEnd)),
        Effect.zipRight(Effect.fail("rolled back")),
        sql.withTransaction,
        Effect.flip,
        Effect.fork
      )
      yield* Deferred.await(written)
      expect(yield* knownOf(id)).toBeUndefined()
      const reading = yield* Effect.fork(sessionOf(id))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(mayEnd, undefined)
      expect(yield* Fiber.join(host)).toBe("rolled back")
      expect((yield* Fiber.join(reading)).status).toBe("active")
      expect((yield* sessionOf(id)).status).toBe("active")
    }
  }).pipe(Effect.provide(Layer.merge(Sqlite.layer({ filename: ":memory:" }), runtime)))
)

it.scopedLive("on SQLite a session in a file is as this program or another one has changed it", () =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(join(tmpdir(), "atelier-kept-"))),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
    )
    const filename = join(folder, "a.db")
    yield* Effect.gen(function* () {
      const { id, user } = yield* aSession
      expect((yield* sessionOf(id)).status).toBe("active")
      const other = Context.get(yield* Layer.build(SqliteClient.layer({ filename, disableWAL: true })), SqliteClient.SqliteClient)
      expect((yield* knownOf(id))?.status).toBe("active")
      yield* other`UPDATE users SET status = 'suspended' WHERE id = ${user.id}`
      expect(yield* knownOf(id)).toBeUndefined()
      expect((yield* sessionOf(id)).status).toBe("suspended")
      const own = yield* Statements
      yield* transaction(own`UPDATE users SET status = 'dormant' WHERE id = ${user.id}`)
      expect(yield* knownOf(id)).toBeUndefined()
      expect((yield* sessionOf(id)).status).toBe("dormant")
      expect((yield* knownOf(id))?.status).toBe("dormant")
    }).pipe(Effect.provide(Layer.merge(Sqlite.layer({ filename }), runtime)))
  })
)
