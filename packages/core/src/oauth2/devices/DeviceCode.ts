/** A device that asks for a permission without a browser (RFC 8628): what it is, and what a poll of it is answered. oauth2-provider.md §17.3. */
import { Duration, Effect, Schema } from "effect"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

/** Both answers of the user are final. A device code that is redeemed is deleted. */
export const DeviceStatus = Schema.Literal("pending", "approved", "denied")
export type DeviceStatus = typeof DeviceStatus.Type

/** A waiting device as it is stored, without the hashes of its codes. */
export const DeviceCode = Schema.Struct({
  id: Uuid,
  app_id: Uuid,
  /** The public part of the device code. */
  prefix: Schema.String,
  status: DeviceStatus,
  /** The scopes that the user is asked for. */
  scopes: Schema.Array(Schema.String),
  resource: Schema.Array(Schema.String),
  created_at: Timestamp.Timestamp,
  expires_at: Timestamp.Timestamp,
  /** Seconds that have to pass between two polls. */
  interval_seconds: Schema.Number,
  polled_at: Schema.NullOr(Timestamp.Timestamp),
  /** The user who has answered. */
  user_id: Schema.NullOr(Uuid),
  /** The session that the user has answered with. */
  consent_key_id: Schema.NullOr(Schema.String)
})
export interface DeviceCode extends Schema.Schema.Type<typeof DeviceCode> {}

/** How long a user has to type the code. */
export const deviceLifetime = Duration.minutes(10)

/** Seconds between two polls, and those that each early poll adds (RFC 8628 §3.5). */
export const pollInterval = 5

/** Clocks of replicas and of devices differ by a little. */
const pollLeeway = Duration.seconds(1)

/** Why a poll is not answered with tokens. */
export type PollRefusal = "authorization_pending" | "slow_down" | "access_denied" | "expired_token"

/** What a poll is refused with at an instant; undefined where the device gets its tokens. */
export const pollRefusal = (device: DeviceCode, now: Timestamp.Timestamp): PollRefusal | undefined => {
  if (device.expires_at < now) return "expired_token"
  if (device.status === "denied") return "access_denied"
  const next =
    device.polled_at === null
      ? undefined
      : Timestamp.minus(Timestamp.plus(device.polled_at, Duration.seconds(device.interval_seconds)), pollLeeway)
  if (next !== undefined && now < next) return "slow_down"
  return device.status === "approved" ? undefined : "authorization_pending"
}

/** Consonants: they form no words, and none looks like a digit (RFC 8628 §6.1). Eight of them have 34 bits. */
const letters = "BCDFGHJKLMNPQRSTVWXZ"
const codeLength = 8

/** A new user code, such as `BCDF-GHJK`. */
export const newUserCode = Effect.gen(function* () {
  const { randomBytes } = yield* Cryptography
  let code = ""
  while (code.length < codeLength) {
    for (const byte of yield* randomBytes(codeLength)) {
      // 240 is the largest multiple of 20 that a byte can hold: bytes above it would favour the first letters
      if (byte < 240 && code.length < codeLength) code += letters[byte % letters.length]
    }
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`
})

/** The code that a user has typed, in the form in which it is compared: case, spaces and hyphens do not count. */
export const readUserCode = (typed: string): string | undefined => {
  const code = typed.slice(0, 64).toUpperCase().replaceAll(/[\s-]/g, "")
  return code.length === codeLength && [...code].every((letter) => letters.includes(letter)) ? code : undefined
}
