/** The permission to log in in another way from now on, between the password that asks for it and the provider that completes it. */
import { Encoding, Effect, Option, Schema } from "effect"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { LoginType, UserId } from "../users/User.js"
import { ExternalLoginType } from "./UserLink.js"

/** The permission to change an account's login type. identity.md §6.6. */
export const LoginConversion = Schema.Struct({
  /** The deployment that issued it. */
  issuer: Uuid,
  /** The state that the provider is visited with: `convert-` and 32 letters and digits. */
  state_string: Schema.String,
  user_id: UserId,
  from_login_type: LoginType,
  to_login_type: ExternalLoginType,
  not_before: Timestamp,
  expires_at: Timestamp
})
export interface LoginConversion extends Schema.Schema.Type<typeof LoginConversion> {}

/** The prefix of a conversion's state. */
export const conversionPrefix = "convert-"

const place = "login conversion"
const Text = Schema.parseJson(LoginConversion)

/** Encrypts a conversion for the browser to keep: only the service can make or read the text. */
export const sealConversion = (conversion: LoginConversion): Effect.Effect<string, never, Encryption> =>
  Effect.gen(function* () {
    const { seal } = yield* Encryption
    const { ciphertext, key_id } = yield* seal(new TextEncoder().encode(Schema.encodeSync(Text)(conversion)), place)
    return `${key_id}.${Encoding.encodeBase64Url(ciphertext)}`
  })

/** The permission that a text contains, expired or not. None if this service did not create the text. */
export const openConversion = (text: string): Effect.Effect<Option.Option<LoginConversion>, never, Encryption> =>
  Effect.gen(function* () {
    const { open } = yield* Encryption
    const dot = text.indexOf(".")
    const ciphertext = yield* Encoding.decodeBase64Url(text.slice(dot + 1))
    const plain = yield* open({ key_id: text.slice(0, Math.max(0, dot)), ciphertext }, place)
    return yield* Schema.decode(Text)(new TextDecoder().decode(plain))
  }).pipe(Effect.option)
