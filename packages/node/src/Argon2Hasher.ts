import { hash, verify } from "@node-rs/argon2"
import { hashingConcurrency, PasswordHasher } from "@atelier/core/identity"
import { Cryptography, keptFor, service, standingOn } from "@atelier/core/platform"
import { Duration, Effect, Layer, Redacted } from "effect"

/** The cost of a hash, and the older hashes that are verified as well. */
export interface Argon2Options {
  /** KiB of memory per hash. */
  readonly memoryCost: number
  /** Passes over the memory. */
  readonly timeCost: number
  /** Lanes that the memory is divided into. */
  readonly parallelism: number
  /** Iterations of the PBKDF2 hashes that the deployment may still have. */
  readonly pbkdf2Iterations: number
}

/** The least that OWASP's Password Storage Cheat Sheet recommends of Argon2id, and the iterations that were in use before it. */
export const recommended: Argon2Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1, pbkdf2Iterations: 65_535 }

const scheme = "$argon2id$"

/**
 * Argon2id (RFC 9106) in the PHC string format, off the event loop. Hashes of PBKDF2 are verified until they have been replaced: as long as
 * there are any, a verification computes both kinds, whichever is stored, so that its time does not tell which accounts exist.
 */
export const layerOf = ({ pbkdf2Iterations, ...cost }: Argon2Options): Layer.Layer<PasswordHasher, never, Cryptography> => {
  const current = `${scheme}v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`
  const hasher = service(
    PasswordHasher,
    Effect.gen(function* () {
      const older = yield* PasswordHasher
      const { randomBytes } = yield* Cryptography
      const permits = yield* Effect.makeSemaphore(hashingConcurrency)
      // A caller that goes leaves the thread at work: its permit is taken until the hash is there
      const inTurn = <A>(work: Effect.Effect<A>): Effect.Effect<A> => permits.withPermits(1)(Effect.uninterruptible(work))
      /** Compared with where there is no hash. The first verification makes it, whether there is one or not: at a start it would take the time of a login. */
      const nobodys = yield* keptFor(Duration.infinity)(
        Effect.flatMap(randomBytes(32), (secret) => Effect.promise(() => hash(secret, cost)))
      )
      return PasswordHasher.of({
        hash: (password) => inTurn(Effect.promise(() => hash(Redacted.value(password), cost))),
        scheme,
        verify: (password, stored, isOnlyScheme = false) => {
          const isArgon2 = stored !== null && stored.startsWith(scheme)
          const fits = Effect.flatMap(nobodys, (other) =>
            Effect.tryPromise(() => verify(isArgon2 ? stored : other, Redacted.value(password)))
          )
          return inTurn(
            Effect.zipWith(
              // A text that is no hash fits no password
              Effect.orElseSucceed(fits, () => false),
              isOnlyScheme && (isArgon2 || stored === null) ? Effect.succeed(false) : older.verify(password, isArgon2 ? null : stored),
              (isCurrent, isOlder) => (isArgon2 ? isCurrent : isOlder)
            )
          )
        },
        isCurrent: (stored) => stored.startsWith(current)
      })
    })
  )
  return standingOn(hasher, PasswordHasher.layerPbkdf2(pbkdf2Iterations))
}

/** With the parameters that OWASP recommends. */
export const layer = layerOf(recommended)
