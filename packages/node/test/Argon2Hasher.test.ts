import { PasswordHasher } from "@atelier/core/identity"
import { Cryptography } from "@atelier/core/platform"
import { Argon2Hasher, NodeCryptography } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { createsHashes, matchesNothing, otherPassword, password } from "../../../test/passwords.js"

const cheap: Argon2Hasher.Argon2Options = { memoryCost: 8, timeCost: 1, parallelism: 1, pbkdf2Iterations: 10 }

layer(Argon2Hasher.layer.pipe(Layer.provideMerge(NodeCryptography.layer)))("a password's hash", (it) => {
  it.effect("is Argon2id with the parameters that OWASP recommends", () =>
    createsHashes(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  )

  it.effect("of PBKDF2 is verified, and is not current", () =>
    Effect.gen(function* () {
      const hasher = yield* PasswordHasher
      const older = yield* Effect.provide(
        Effect.flatMap(PasswordHasher, ({ hash }) => hash(password)),
        PasswordHasher.layerPbkdf2(65_535)
      )
      expect(yield* Effect.all([hasher.verify(password, older), hasher.verify(otherPassword, older)])).toStrictEqual([true, false])
      expect(hasher.isCurrent(older)).toBe(false)
    })
  )
})

layer(Argon2Hasher.layerOf(cheap).pipe(Layer.provideMerge(NodeCryptography.layer)))("a password's hash with a lower cost", (it) => {
  it.effect("is created and verified; one with another cost is verified but not current", () =>
    Effect.gen(function* () {
      const hasher = yield* PasswordHasher
      const hash = yield* hasher.hash(password)
      expect(hash).toContain("$m=8,t=1,p=1$")
      const dearer = yield* Effect.provide(
        Effect.flatMap(PasswordHasher, ({ hash }) => hash(password)),
        Argon2Hasher.layerOf({ ...cheap, memoryCost: 16 })
      )
      expect([yield* hasher.verify(password, dearer), hasher.isCurrent(dearer), hasher.isCurrent(hash)]).toStrictEqual([true, false, true])
    })
  )

  it.effect("matches nothing if it is absent or malformed", () => matchesNothing)
})

/** Counts what is derived at once, and holds it until the test says so. */
const heldCryptography = Effect.gen(function* () {
  const cryptography = yield* Cryptography
  const release = yield* Deferred.make<void>()
  const two = yield* Deferred.make<void>()
  const counts = { begun: 0, running: 0, most: 0 }
  const pbkdf2Sha256: Cryptography["Type"]["pbkdf2Sha256"] = (options) =>
    Effect.gen(function* () {
      counts.begun++
      counts.running++
      counts.most = Math.max(counts.most, counts.running)
      if (counts.running === 2) yield* Deferred.succeed(two, undefined)
      yield* Deferred.await(release)
      counts.running--
      return yield* cryptography.pbkdf2Sha256(options)
    })
  return { counts, release, two, service: { ...cryptography, pbkdf2Sha256 } }
})

layer(NodeCryptography.layer)("hashes", (it) => {
  it.effect("are computed two at a time, also when callers leave", () =>
    Effect.gen(function* () {
      const { counts, release, service, two } = yield* heldCryptography
      const hashing = Argon2Hasher.layerOf(cheap).pipe(Layer.provide(Layer.succeed(Cryptography, service)))
      yield* Effect.gen(function* () {
        const hasher = yield* PasswordHasher
        const leaving = yield* Effect.fork(Effect.all([hasher.verify(password, null), hasher.verify(password, null)], { concurrency: 2 }))
        yield* Deferred.await(two)
        const interrupted = yield* Effect.fork(Fiber.interrupt(leaving))
        const others = yield* Effect.fork(Effect.forEach([1, 2, 3, 4], () => hasher.verify(password, null), { concurrency: "unbounded" }))
        yield* Effect.yieldNow()
        expect(counts.begun).toBe(2)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(interrupted)
        expect(yield* Fiber.join(others)).toStrictEqual([false, false, false, false])
      }).pipe(Effect.provide(hashing))
      expect([counts.begun, counts.most]).toStrictEqual([6, 2])
    })
  )

  it.effect("of the older kind are computed while the store has such hashes", () =>
    Effect.gen(function* () {
      const { counts, release, service } = yield* heldCryptography
      yield* Deferred.succeed(release, undefined)
      const hashing = Argon2Hasher.layerOf(cheap).pipe(Layer.provide(Layer.succeed(Cryptography, service)))
      yield* Effect.gen(function* () {
        const hasher = yield* PasswordHasher
        const current = yield* hasher.hash(password)
        expect(yield* Effect.all([hasher.verify(password, current), hasher.verify(password, null)])).toStrictEqual([true, false])
        expect(counts.begun).toBe(2)
        expect(yield* Effect.all([hasher.verify(password, current, true), hasher.verify(password, null, true)])).toStrictEqual([
          true,
          false
        ])
        expect(counts.begun).toBe(2)
        yield* hasher.verify(password, "$pbkdf2-sha256$10$AAAA$AAAA", true)
        expect(counts.begun).toBe(3)
      }).pipe(Effect.provide(hashing))
    })
  )
})
