import { unrestrictedAllowList } from "@atelier/core/access"
import type { AuditEntry } from "@atelier/core/audit"
import { AccountRepository, ApiKeyRepository, newApiKey, newCredential, UserRepository } from "@atelier/core/identity"
import { Duplicate, Ids, Timestamp, Transactor, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Either, Fiber, Layer } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { Statements } from "../../../src/platform/Statements.js"

const aKey = (user_id: Uuid.Uuid, token_name: string) =>
  Effect.gen(function* () {
    const { hashedSecret, id } = yield* newCredential
    const now = yield* Timestamp.now
    const key = newApiKey(
      {
        id,
        user_id,
        login_type: "token",
        ip: "",
        token_name,
        scopes: ["coder:all"],
        allow_list: unrestrictedAllowList,
        lifetime: Duration.hours(1)
      },
      now
    )
    return { hashedSecret, key, now }
  })

const anEntry = (user_id: Uuid.Uuid, time: Timestamp.Timestamp) =>
  Effect.map(
    Effect.flatMap(Ids, ({ next }) => next),
    (id): AuditEntry => ({
      id,
      time,
      user_id,
      organization_id: Uuid.nil,
      ip: "",
      user_agent: "",
      resource_type: "api_key",
      resource_id: user_id,
      resource_target: "",
      action: "create",
      diff: {},
      status_code: 201,
      additional_fields: {},
      request_id: Uuid.nil
    })
  )

/** A user with a key in use. */
const aHolder = Effect.gen(function* () {
  const user = yield* aUser()
  yield* (yield* UserRepository).insert(user, null)
  const { hashedSecret, key } = yield* aKey(user.id, "in use")
  yield* (yield* ApiKeyRepository).insert(key, hashedSecret)
  return { credential: key.id, user }
})

const issue = (user: Uuid.Uuid, credential: string | undefined, limit = 10) =>
  Effect.gen(function* () {
    const issued = yield* aKey(user, yield* Effect.flatMap(Ids, ({ next }) => next))
    const entry = yield* anEntry(user, issued.now)
    const outcome = yield* (yield* ApiKeyRepository).issue({ ...issued, entry, actor: user, credential, limit })
    const sql = yield* Statements
    const [{ count: entries } = { count: undefined }] = yield* sql<{
      count: number
    }>`SELECT count(*) AS count FROM audit_logs WHERE id = ${entry.id}`
    const [{ count: keys } = { count: undefined }] = yield* sql<{
      count: number
    }>`SELECT count(*) AS count FROM api_keys WHERE id = ${issued.key.id}`
    return { outcome, stored: [Number(keys), Number(entries)] }
  })

for (const [name, database] of databases) {
  layer(Layer.provideMerge(database, runtime))(`a key that is issued on ${name}`, (it) => {
    it.effect("is stored with its entry", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        expect(yield* issue(user.id, credential)).toStrictEqual({ outcome: "issued", stored: [1, 1] })
        expect(yield* issue(user.id, undefined)).toStrictEqual({ outcome: "issued", stored: [1, 1] })
      })
    )

    it.effect("is refused once the credential has ended, and stores nothing", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        expect(yield* issue(user.id, "unknown")).toStrictEqual({ outcome: "credential_ended", stored: [0, 0] })
        expect(yield* issue(Uuid.nil, credential)).toStrictEqual({ outcome: "user_gone", stored: [0, 0] })
        expect(yield* issue(user.id, credential, 1)).toStrictEqual({ outcome: "limit_reached", stored: [0, 0] })
        yield* (yield* ApiKeyRepository).expire(credential, Timestamp.minus(yield* Timestamp.now, "1 milli"))
        expect(yield* issue(user.id, credential)).toStrictEqual({ outcome: "credential_ended", stored: [0, 0] })
      })
    )

    it.effect("is refused where a change under way ends the credential first", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        const isLocked = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const keys = yield* ApiKeyRepository
        const change = yield* Effect.fork(
          (yield* Transactor).atomically(
            Effect.gen(function* () {
              yield* (yield* AccountRepository).lock([user.id])
              yield* Deferred.succeed(isLocked, undefined)
              yield* Deferred.await(go)
              yield* keys.delete(credential)
            })
          )
        )
        yield* Deferred.await(isLocked)
        const issued = yield* Effect.fork(issue(user.id, credential))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(change)
        expect(yield* Fiber.join(issued)).toStrictEqual({ outcome: "credential_ended", stored: [0, 0] })
      })
    )

    it.effect("is counted anew at most after 64 others, and before the limit is reached", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        const keys = yield* ApiKeyRepository
        yield* issue(user.id, credential, 100)
        // As another process does
        const insertOthers = (count: number) =>
          Effect.replicateEffect(
            Effect.flatMap(aKey(user.id, ""), ({ hashedSecret, key }) => keys.insert({ ...key, login_type: "password" }, hashedSecret)),
            count
          )
        yield* insertOthers(98)
        expect(
          yield* Effect.replicateEffect(
            Effect.map(issue(user.id, credential, 100), ({ outcome }) => outcome),
            64
          )
        ).toStrictEqual([...Array.from({ length: 63 }, () => "issued"), "limit_reached"])
        expect((yield* issue(user.id, credential, 164)).outcome).toBe("issued")
        expect((yield* issue(user.id, credential, 164)).outcome).toBe("limit_reached")
      })
    )

    it.effect("that has the name of another token is refused, and undoes none of those around it", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        const keys = yield* ApiKeyRepository
        const sql = yield* Statements
        const issueAs = (name: string) =>
          Effect.gen(function* () {
            const issued = yield* aKey(user.id, name)
            const entry = yield* anEntry(user.id, issued.now)
            return keys.issue({ ...issued, entry, actor: user.id, credential, limit: 10 })
          })
        const calls = yield* Effect.forEach(["before", "in use", "after"], issueAs)
        const outcomes = yield* Effect.all(calls.map(Effect.either), { concurrency: "unbounded" })
        expect(outcomes).toStrictEqual([
          Either.right("issued"),
          Either.left(new Duplicate({ constraint: "api_keys_user_id_token_name" })),
          Either.right("issued")
        ])
        const stored = yield* sql<{ count: number }>`SELECT count(*) AS count FROM audit_logs WHERE user_id = ${user.id}`
        expect(stored.map(({ count }) => Number(count))).toStrictEqual([2])
        if (name === "SQLite") return
        // The transaction of a row that was written again would be another one
        const transactions = yield* sql`SELECT DISTINCT xmin FROM api_keys WHERE user_id = ${user.id} AND token_name <> 'in use'`
        expect(transactions).toHaveLength(1)
      }).pipe(Effect.withTracerEnabled(false))
    )

    it.effect("at once with others has its own outcome", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        const other = yield* aHolder
        const gone = yield* aUser()
        const keys = yield* ApiKeyRepository
        const sql = yield* Statements
        const issueTo = (owner: Uuid.Uuid, key: string | undefined, name: string, limit = 10) =>
          Effect.gen(function* () {
            const issued = yield* aKey(owner, name)
            return keys.issue({ ...issued, entry: yield* anEntry(owner, issued.now), actor: owner, credential: key, limit })
          })
        const calls = yield* Effect.all([
          issueTo(user.id, credential, "a"),
          issueTo(gone.id, undefined, "b"),
          issueTo(other.user.id, other.credential, "c"),
          issueTo(user.id, "no credential", "d"),
          issueTo(user.id, undefined, "e", 1),
          issueTo(other.user.id, undefined, "c")
        ])
        const outcomes = yield* Effect.all(calls.map(Effect.either), { concurrency: "unbounded" })
        expect(outcomes).toStrictEqual([
          Either.right("issued"),
          Either.right("user_gone"),
          Either.right("issued"),
          Either.right("credential_ended"),
          Either.right("limit_reached"),
          Either.left(new Duplicate({ constraint: "api_keys_user_id_token_name" }))
        ])
        const names = yield* sql<{
          token_name: string
        }>`SELECT token_name FROM api_keys WHERE ${sql.in("user_id", [user.id, other.user.id])}`
        expect(names.map(({ token_name }) => token_name).toSorted()).toStrictEqual(["a", "c", "in use", "in use"])
      }).pipe(Effect.withTracerEnabled(false))
    )

    it.effect("takes one statement where the store can do both in one", () =>
      Effect.gen(function* () {
        const { credential, user } = yield* aHolder
        const issued = yield* aKey(user.id, "")
        const entry = yield* anEntry(user.id, issued.now)
        const { statements } = yield* statementsOf(
          (yield* ApiKeyRepository).issue({ ...issued, entry, actor: user.id, credential, limit: 9 })
        )
        expect(statements).toHaveLength(name === "PostgreSQL" ? 1 : 3)
      })
    )
  })
}
