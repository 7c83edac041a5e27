import { Context, Effect, Encoding, Either, Layer, Redacted } from "effect"
import { constantTimeEquals, Cryptography } from "../../platform/secrets/Cryptography.js"
import { service } from "../../platform/wiring/Standing.js"

/** Turns passwords into what is stored of them. A host may replace it. */
export class PasswordHasher extends Context.Tag("@atelier/core/PasswordHasher")<
  PasswordHasher,
  {
    readonly hash: (password: Redacted.Redacted<string>) => Effect.Effect<string>
    /**
     * Whether a stored hash is the password's. It takes equally long for every hash that the hasher knows, and for null, which is the hash of
     * no password: the time must not tell which accounts have a password. Where the caller knows that every stored hash has the hasher's
     * scheme, other kinds need not be computed for that.
     */
    readonly verify: (password: Redacted.Redacted<string>, stored: string | null, isOnlyScheme?: boolean) => Effect.Effect<boolean>
    /** How each hash that `hash` makes begins. Absent if the hasher knows no other kind. */
    readonly scheme?: string
    /** Whether a stored hash is of the kind that `hash` makes. Another one is replaced at the next login of its user. */
    readonly isCurrent: (stored: string) => boolean
  }
>() {
  /**
   * PBKDF2-HMAC-SHA256, in the text form `$pbkdf2-sha256$<iterations>$<salt>$<key>`. It needs no native code. Hashes with other numbers of
   * iterations are verified as well. identity.md §6.3.
   */
  static readonly layerPbkdf2 = (iterations: number): Layer.Layer<PasswordHasher, never, Cryptography> =>
    service(
      PasswordHasher,
      Effect.gen(function* () {
        const { pbkdf2Sha256, randomBytes } = yield* Cryptography
        /** Compared with where there is no hash. */
        const nobodys: Stored = { iterations, salt: new Uint8Array(saltLength), key: new Uint8Array(keyLength) }
        const permits = yield* Effect.makeSemaphore(hashingConcurrency)
        const derive = (password: Redacted.Redacted<string>, { iterations, key, salt }: Stored): Effect.Effect<Uint8Array> =>
          permits.withPermits(1)(
            // A caller that goes leaves the thread at work: its permit is taken until the hash is there
            Effect.uninterruptible(
              pbkdf2Sha256({ password: new TextEncoder().encode(Redacted.value(password)), salt, iterations, length: key.length })
            )
          )
        return PasswordHasher.of({
          hash: (password) =>
            Effect.gen(function* () {
              const salt = yield* randomBytes(saltLength)
              const key = yield* derive(password, { ...nobodys, salt })
              return `$${scheme}$${iterations}$${unpadded(salt)}$${unpadded(key)}`
            }),
          verify: (password, stored) => {
            const known = stored === null ? undefined : parse(stored)
            const expected = known ?? nobodys
            return Effect.map(derive(password, expected), (key) => constantTimeEquals(key, expected.key) && known !== undefined)
          },
          isCurrent: (stored) => parse(stored)?.iterations === iterations
        })
      })
    )
}

/**
 * Hashes computed at once: half of the threads that a Node process has for such work. A hash keeps a thread busy for tens of milliseconds; the
 * pool's other users keep theirs.
 */
export const hashingConcurrency = 2

const scheme = "pbkdf2-sha256"
const saltLength = 16
const keyLength = 64

interface Stored {
  readonly iterations: number
  readonly salt: Uint8Array
  readonly key: Uint8Array
}

const unpadded = (bytes: Uint8Array): string => Encoding.encodeBase64(bytes).replace(/=+$/, "")

const decode = (text: string): Uint8Array | undefined =>
  Either.getOrUndefined(Encoding.decodeBase64(text.padEnd(Math.ceil(text.length / 4) * 4, "=")))

const parse = (stored: string): Stored | undefined => {
  const [empty, name, count = "", saltText = "", keyText = "", ...rest] = stored.split("$")
  const salt = decode(saltText)
  const key = decode(keyText)
  if (empty !== "" || name !== scheme || !/^[1-9]\d{0,7}$/.test(count) || rest.length > 0) return undefined
  return salt === undefined || key === undefined || key.length === 0 ? undefined : { iterations: Number(count), salt, key }
}
