/** The permission to come back to the private network as the same peer, with the tunnels that it has. agents-and-apps.md §15. */
import { Duration, Effect, Encoding, Option, Schema } from "effect"
import { Encryption } from "../platform/secrets/Encryption.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"

const ResumeToken = Schema.Struct({
  peer_id: Uuid,
  /** The user or agent that the token was given to. */
  holder_id: Uuid,
  expires_at: Timestamp.Timestamp
})

/** A token as its client gets it. */
export interface IssuedResumeToken {
  readonly token: string
  readonly expires_at: Timestamp.Timestamp
  /** When the client asks for the next. */
  readonly refresh_in: Duration.Duration
}

const lifetime = Duration.hours(24)
const refresh_in = Duration.hours(12)

const place = "resume token"
const Text = Schema.parseJson(ResumeToken)

/** Characters of a token. */
const maximumLength = 1024

/** Encrypts a token with the deployment's keys: every replica can open it, also after a key was replaced. */
export const issueResumeToken = (peer: Uuid, holder: Uuid): Effect.Effect<IssuedResumeToken, never, Encryption> =>
  Effect.gen(function* () {
    const { seal } = yield* Encryption
    const expires_at = Timestamp.plus(yield* Timestamp.now, lifetime)
    const plain = new TextEncoder().encode(Schema.encodeSync(Text)({ peer_id: peer, holder_id: holder, expires_at }))
    const { ciphertext, key_id } = yield* seal(plain, place)
    return { token: `${key_id}.${Encoding.encodeBase64Url(ciphertext)}`, expires_at, refresh_in }
  })

/** The peer that a token of this holder is for; none for another's, an expired one, and any other text. */
export const peerOfResumeToken = (token: string, holder: Uuid): Effect.Effect<Option.Option<Uuid>, never, Encryption> =>
  Effect.gen(function* () {
    const { open } = yield* Encryption
    const dot = token.indexOf(".")
    const ciphertext = yield* Encoding.decodeBase64Url(token.length > maximumLength ? "" : token.slice(dot + 1))
    const plain = yield* open({ key_id: token.slice(0, Math.max(0, dot)), ciphertext }, place)
    const { expires_at, holder_id, peer_id } = yield* Schema.decode(Text)(new TextDecoder().decode(plain))
    const isGood = holder_id === holder && expires_at > (yield* Timestamp.now)
    return isGood ? Option.some(peer_id) : Option.none()
  }).pipe(Effect.catchAll(() => Effect.succeedNone))
