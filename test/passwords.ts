/** What tests of every hasher of passwords expect. */
import { PasswordHasher } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { expect } from "vitest"

export const password = Redacted.make("SomeSecurePassword!")
export const otherPassword = Redacted.make("SomeSecurePassword?")

/** Stored values that no password matches. */
const malformed = [
  null,
  "",
  "!",
  "$argon2id$",
  "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA",
  "$argon2id$1$AAAA$AAAA",
  "$pbkdf2-sha256$0$AAAA$AAAA",
  "$pbkdf2-sha256$99999999999$AAAA$AAAA",
  "$pbkdf2-sha256$1$AAAA$"
]

/** The hasher matches no password with a hash that is absent or malformed. */
export const matchesNothing = Effect.gen(function* () {
  const hasher = yield* PasswordHasher
  const verified = yield* Effect.forEach(malformed, (each) => hasher.verify(password, each))
  expect(verified).toStrictEqual(malformed.map(() => false))
})

/** The hasher creates hashes of a form, each with a salt of its own, and recognises its password alone. */
export const createsHashes = (form: RegExp) =>
  Effect.gen(function* () {
    const hasher = yield* PasswordHasher
    const [first, second] = yield* Effect.all([hasher.hash(password), hasher.hash(password)])
    expect(first).toMatch(form)
    expect(first).not.toBe(second)
    expect(yield* Effect.all([hasher.verify(password, first), hasher.verify(otherPassword, first)])).toStrictEqual([true, false])
    expect(hasher.isCurrent(first)).toBe(true)
  })
