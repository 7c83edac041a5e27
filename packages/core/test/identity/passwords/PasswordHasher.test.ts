import { PasswordHasher } from "@atelier/core/identity"
import { Cryptography } from "@atelier/core/platform"
import { layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { expect } from "vitest"
import { createsHashes, matchesNothing } from "../../../../../test/passwords.js"

layer(PasswordHasher.layerPbkdf2(1000).pipe(Layer.provide(Cryptography.layerWeb)))("a PBKDF2 hash of a password", (it) => {
  it.effect("has the stored form, a salt of its own, and is recognised", () =>
    createsHashes(/^\$pbkdf2-sha256\$1000\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{86}$/)
  )

  it.effect("is that of PBKDF2-HMAC-SHA256 (the vector of RFC 7914 §11)", () =>
    Effect.gen(function* () {
      const hasher = yield* PasswordHasher
      const key = "VawEblbjCJ/sFpHCJUS2BflBhSFt3gRl5oudV8INrLxJypzM8Xm2RZkWZLOdd+8xfHG4RbHjC9UJESBB06GXgw"
      expect(yield* hasher.verify(Redacted.make("passwd"), `$pbkdf2-sha256$1$c2FsdA$${key}`)).toBe(true)
    })
  )

  it.effect("is current with the number of iterations in use alone", () =>
    Effect.gen(function* () {
      const hasher = yield* PasswordHasher
      expect(["$pbkdf2-sha256$1000$AAAA$AAAA", "$pbkdf2-sha256$999$AAAA$AAAA", "!"].map(hasher.isCurrent)).toStrictEqual([
        true,
        false,
        false
      ])
    })
  )

  it.effect("matches nothing if it is absent or malformed", () => matchesNothing)
})
