/** Keys: the credentials of users, be they sessions, tokens with a name or what an application was given. identity.md §2. */
import { Duration, Effect, Redacted, Schema } from "effect"
import { AllowListEntry } from "../../access/scopes/AllowList.js"
import { Cryptography, randomAlphanumeric, hashSecret } from "../../platform/secrets/Cryptography.js"
import * as Numbers from "../../platform/Numbers.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { UserId } from "../users/User.js"

/** How a key came to be: by which login, or as a token with a name. */
export const KeyLoginType = Schema.Literal("password", "github", "oidc", "token", "oauth2_provider_app")
export type KeyLoginType = typeof KeyLoginType.Type

/** The stored part of a key without the hash of its secret. identity.md §2.1. */
export const ApiKey = Schema.Struct({
  /** 10 characters of `0-9A-Za-z`; no secret. */
  id: Schema.String,
  user_id: UserId,
  created_at: Timestamp.Timestamp,
  /** Not changed by use. */
  updated_at: Timestamp.Timestamp,
  /** Written at most once an hour; the epoch until first use. */
  last_used: Timestamp.Timestamp,
  expires_at: Timestamp.Timestamp,
  /** By how much use extends a session. */
  lifetime_seconds: Numbers.Count,
  login_type: KeyLoginType,
  /** The address the key was made from or last used from; empty when unknown. */
  ip: Schema.String,
  /** Empty for sessions; unique among the tokens of a user. */
  token_name: Schema.String,
  /** Canonical names, at least one. */
  scopes: Schema.Array(Schema.String),
  /** Normalised, at least one entry. */
  allow_list: Schema.Array(AllowListEntry)
})
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

const idLength = 10
const secretLength = 22

/** The two parts of the text a client presents. */
export interface Credential {
  readonly id: string
  readonly secret: string
}

/** The parts of `<id>-<secret>`, or undefined for a text that is not a key. */
export const parseCredential = (text: string): Credential | undefined =>
  /^[0-9A-Za-z]{10}-[0-9A-Za-z]{22}$/.test(text) ? { id: text.slice(0, idLength), secret: text.slice(idLength + 1) } : undefined

/** A new key's id, the text its holder is given once, and the hash that is stored of its secret. */
export const newCredential: Effect.Effect<
  { readonly id: string; readonly key: Redacted.Redacted<string>; readonly hashedSecret: Uint8Array },
  never,
  Cryptography
> = Effect.gen(function* () {
  const id = yield* randomAlphanumeric(idLength)
  const secret = yield* randomAlphanumeric(secretLength)
  return { id, key: Redacted.make(`${id}-${secret}`), hashedSecret: yield* hashSecret(yield* Cryptography, secret) }
})

/** The record of a key that has not been used. */
export const newApiKey = (
  key: Pick<ApiKey, "id" | "user_id" | "login_type" | "ip" | "token_name" | "scopes" | "allow_list"> & {
    readonly lifetime: Duration.Duration
  },
  now: Timestamp.Timestamp
): ApiKey => ({
  id: key.id,
  user_id: key.user_id,
  created_at: now,
  updated_at: now,
  last_used: neverUsed,
  expires_at: Timestamp.plus(now, key.lifetime),
  lifetime_seconds: lifetimeSeconds(key.lifetime),
  login_type: key.login_type,
  ip: key.ip,
  token_name: key.token_name,
  scopes: key.scopes,
  allow_list: key.allow_list
})

/** A key is good until and at the instant it expires. `now` is in milliseconds since 1970. */
export const isExpired = (key: Pick<ApiKey, "expires_at">, now: number): boolean => Timestamp.toMillis(key.expires_at) < now

/** The stored lifetime of a key that is to live that long: whole seconds; less than one counts as a day. identity.md §2.1. */
export const lifetimeSeconds = (lifetime: Duration.Duration): number => Math.floor(Duration.toSeconds(lifetime)) || 86_400

/** `last_used` of a key that has not been used. */
const neverUsed = Timestamp.fromMillis(0)

/** Milliseconds: use is written down when the last time is longer ago, and expiry moves when as much of the lifetime has passed. */
const useInterval = Duration.toMillis("1 hour")

/** The changes that the use of a key makes to it; undefined if nothing needs to be written. */
export interface KeyUse {
  readonly last_used: Timestamp.Timestamp
  readonly ip: string
  readonly expires_at: Timestamp.Timestamp
}

/** Using a key is recorded at most hourly, and slides the expiry of everything but tokens. `now` is in milliseconds. identity.md §2.5. */
export const useOf = (
  key: Pick<ApiKey, "last_used" | "ip" | "expires_at" | "lifetime_seconds" | "login_type">,
  options: { readonly now: number; readonly ip: string; readonly slides: boolean }
): KeyUse | undefined => {
  const { now } = options
  const lifetime = key.lifetime_seconds * 1000
  const isStale = now - Timestamp.toMillis(key.last_used) > useInterval
  const slides = options.slides && key.login_type !== "token" && Timestamp.toMillis(key.expires_at) - now <= lifetime - useInterval
  if (!isStale && !slides) return undefined
  return {
    last_used: isStale ? Timestamp.fromMillis(now) : key.last_used,
    ip: isStale ? options.ip : key.ip,
    expires_at: slides ? Timestamp.fromMillis(now + lifetime) : key.expires_at
  }
}
