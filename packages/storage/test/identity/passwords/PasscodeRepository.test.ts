import { type Passcode, PasscodeRepository, UserRepository } from "@atelier/core/identity"
import { Ids, Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { type Duration, Effect, Layer, Option } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { databases } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"

const sealed = { key_id: "key", ciphertext: new Uint8Array([1, 2, 3]) }

/** A user with a code that expires in 20 minutes. */
const holder = Effect.gen(function* () {
  const user = yield* aUser({ name: "Ada" })
  yield* (yield* UserRepository).insert(user, "hash")
  const now = yield* Timestamp.now
  const passcode: Passcode = {
    id: yield* (yield* Ids).next,
    user_id: user.id,
    hashed_passcode: "hashed",
    expires_at: Timestamp.plus(now, "20 minutes")
  }
  return { user, passcode, now }
})

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`one-time passcodes in ${name}`, (it) => {
    it.effect("are one per user, to be sent until they are forgotten or expire", () =>
      Effect.gen(function* () {
        const codes = yield* PasscodeRepository
        const { now, passcode, user } = yield* holder
        const unsent = (after: Duration.DurationInput) =>
          Effect.map(codes.unsent(Timestamp.plus(now, after), 10), (found) => found.map(({ id }) => id))
        expect(yield* codes.ofUser(user.id)).toStrictEqual(Option.none())
        expect(yield* codes.holder(user.email.toUpperCase())).toMatchObject(
          Option.some({ id: user.id, hashed_password: "hash", passcode: null })
        )

        yield* codes.replace({ ...passcode, id: yield* (yield* Ids).next }, sealed, now)
        yield* codes.replace(passcode, sealed, now)
        expect(yield* codes.ofUser(user.id)).toStrictEqual(Option.some(passcode))
        expect(Option.getOrThrow(yield* codes.holder(user.email))).toMatchObject({ login_type: "password", passcode })
        const { email, username } = user
        const [found, ...others] = yield* codes.unsent(now, 10)
        expect([...(found?.sealed.ciphertext ?? [])]).toStrictEqual([...sealed.ciphertext])
        expect(others).toStrictEqual([])
        expect(found).toMatchObject({
          id: passcode.id,
          user_id: user.id,
          expires_at: passcode.expires_at,
          email,
          username,
          name: "Ada",
          sealed: { key_id: "key" }
        })
        yield* codes.postpone(passcode.id, Timestamp.plus(now, "30 seconds"))
        expect([yield* unsent("29 seconds"), yield* unsent("30 seconds"), yield* unsent("20 minutes")]).toStrictEqual([
          [],
          [passcode.id],
          []
        ])
        yield* codes.forget(passcode.id)
        expect(yield* unsent("1 minute")).toStrictEqual([])
        expect(yield* codes.ofUser(user.id)).toStrictEqual(Option.some(passcode))
        yield* codes.purge(passcode.expires_at, 10)
        expect(Option.isSome(yield* codes.ofUser(user.id))).toBe(true)
        yield* codes.purge(Timestamp.plus(passcode.expires_at, "1 milli"), 10)
        expect(yield* codes.ofUser(user.id)).toStrictEqual(Option.none())
      })
    )

    it.effect("are found without reading a whole table", () =>
      Effect.gen(function* () {
        const codes = yield* PasscodeRepository
        const { now, passcode, user } = yield* holder
        const { statements } = yield* statementsOf(
          Effect.all([
            codes.holder(user.email),
            codes.ofUser(user.id),
            codes.replace(passcode, sealed, now),
            codes.unsent(now, 10),
            codes.postpone(passcode.id, now),
            codes.forget(passcode.id),
            codes.purge(now, 10)
          ])
        )
        expect(statements).toHaveLength(7)
        for (const statement of statements) {
          expect(yield* planOf(statement)).not.toMatch(/Seq Scan|^SCAN (?!.*USING (COVERING )?INDEX)/m)
        }
      })
    )
  })
}
