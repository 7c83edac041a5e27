/** Client secrets, authorization codes and refresh tokens: texts with a public part, by which they are found, and a secret part. */
import { Effect, Redacted } from "effect"
import { Cryptography, randomAlphanumeric } from "../../platform/secrets/Cryptography.js"

const prefixLength = 10
const secretLength = 40

/** A new secret: its holder's text, and the parts that are stored. */
export interface NewSecret {
  readonly prefix: string
  readonly text: Redacted.Redacted<string>
  readonly hashedSecret: Uint8Array
  /** The last characters, by which people recognise it. */
  readonly truncated: string
}

/** Characters that lists show of a client secret. oauth2-provider.md §3, P-26. */
const shownLength = 6

/** The first part of every secret's text: the product's word as tokens can have it. */
export const secretWord = (brand: string): string => brand.toLowerCase().replace(/[^0-9a-z]+/g, "") || "service"

const encoder = new TextEncoder()

/** SHA-256: 40 random characters need no slow hash. */
export const hashText = (text: string): Effect.Effect<Uint8Array, never, Cryptography> =>
  Effect.flatMap(Cryptography, ({ sha256 }) => sha256(encoder.encode(text)))

export const newSecret = (brand: string): Effect.Effect<NewSecret, never, Cryptography> =>
  Effect.gen(function* () {
    const prefix = yield* randomAlphanumeric(prefixLength)
    const secret = yield* randomAlphanumeric(secretLength)
    return {
      prefix,
      text: Redacted.make(`${secretWord(brand)}_${prefix}_${secret}`),
      hashedSecret: yield* hashText(secret),
      truncated: secret.slice(-shownLength)
    }
  })

/** A secret as it is presented: how it is found, and the hash that the stored one must equal. */
export interface PresentedSecret {
  readonly prefix: string
  readonly hashedSecret: Uint8Array
}

const parts = /^([0-9a-z]+)_([0-9A-Za-z]{10})_([0-9A-Za-z]{40})$/

/** Reads a text that a client presents; undefined for a text that is no secret of this deployment. */
export const presentedSecret = (brand: string, text: string): Effect.Effect<PresentedSecret | undefined, never, Cryptography> => {
  const [, word, prefix, secret] = parts.exec(text) ?? []
  if (word !== secretWord(brand) || prefix === undefined || secret === undefined) return Effect.succeed(undefined)
  return Effect.map(hashText(secret), (hashedSecret) => ({ prefix, hashedSecret }))
}
