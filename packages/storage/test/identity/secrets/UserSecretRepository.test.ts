import { listPredicate, sessionActor } from "@atelier/core/access"
import { UserRepository, UserSecretRepository } from "@atelier/core/identity"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"

const sealed = (byte: number, key_id = "one") => ({ key_id, ciphertext: new Uint8Array([byte]) })

const aStoredSecret = Effect.gen(function* () {
  const user = yield* aUser()
  const now = yield* Timestamp.now
  yield* (yield* UserRepository).insert(user, null)
  const secret = {
    id: yield* (yield* Ids).next,
    user_id: user.id,
    name: "npm",
    description: "",
    env_name: "NPM",
    file_path: "",
    enabled: true,
    value_size: 1,
    created_at: now,
    updated_at: now
  }
  yield* (yield* UserSecretRepository).insert(secret, sealed(1), new Uint8Array([0]))
  return secret
})

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`secrets in ${name}`, (it) => {
    it.effect("keep a value that was written while another was encrypted anew", () =>
      Effect.gen(function* () {
        const secrets = yield* UserSecretRepository
        const { id, user_id } = yield* aStoredSecret
        const stored = (userId: Uuid.Uuid) =>
          Effect.map(secrets.delivered(userId), (found) => found.map(({ value }) => [value.key_id, ...value.ciphertext]))
        yield* secrets.setValue(id, sealed(2))
        expect(yield* secrets.reseal(id, sealed(1), sealed(3, "two"))).toBe(false)
        expect(yield* stored(user_id)).toStrictEqual([["one", 2]])
        expect(yield* secrets.reseal(id, sealed(2), sealed(3, "two"))).toBe(true)
        expect(yield* stored(user_id)).toStrictEqual([["two", 3]])
      })
    )

    it.effect("name the index that a second one of a name, a variable or a path meets", () =>
      Effect.gen(function* () {
        const secrets = yield* UserSecretRepository
        const ids = yield* Ids
        const secret = yield* aStoredSecret
        yield* secrets.insert(
          { ...secret, id: yield* ids.next, name: "path", env_name: "", file_path: "/x" },
          sealed(1),
          new Uint8Array([7])
        )
        const met = (changes: object) =>
          Effect.flatMap(ids.next, (id) =>
            Effect.flip(secrets.insert({ ...secret, id, name: "new", env_name: "", ...changes }, sealed(1), new Uint8Array([7])))
          )
        expect(yield* met({ name: "npm" })).toMatchObject({ constraint: "user_secrets_user_id_name" })
        expect(yield* met({ env_name: "NPM" })).toMatchObject({ constraint: "user_secrets_user_id_env_name" })
        expect(yield* met({ file_path: "/x" })).toMatchObject({ constraint: "user_secrets_user_id_file_path_hash" })
      })
    )

    it.effect("are found without reading the whole table", () =>
      Effect.gen(function* () {
        const secrets = yield* UserSecretRepository
        const secret = yield* aStoredSecret
        const { subject } = sessionActor({ userId: secret.user_id, siteRoles: [], memberships: [] })
        const { statements } = yield* statementsOf(
          Effect.all([
            secrets.lock(secret.user_id),
            secrets.ofUser(secret.user_id),
            secrets.list(secret.user_id, listPredicate(subject, "read", "user_secret")),
            secrets.byName(secret.user_id, "npm"),
            secrets.update({ ...secret, description: "new" }, new Uint8Array([0])),
            secrets.setValue(secret.id, sealed(4)),
            secrets.delivered(secret.user_id),
            secrets.sealedOtherwise("two", Uuid.nil, 10),
            secrets.reseal(secret.id, sealed(4), sealed(5)),
            secrets.delete(secret.id)
          ])
        )
        expect(yield* secrets.byName(secret.user_id, "npm")).toStrictEqual(Option.none())
        expect(statements).toHaveLength(10)
        const plans = yield* Effect.forEach(statements, (statement) =>
          Effect.map(planOf(statement), (plan) => ({ statement: statement.text, plan }))
        )
        expect(plans.filter(({ plan }) => /\bSCAN (?!CONSTANT)|Seq Scan/.test(plan))).toStrictEqual([])
      })
    )
  })
}
