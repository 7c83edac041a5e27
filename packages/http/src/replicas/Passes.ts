/**
 * What a process shows to another one of the deployment: a value that only holders of the deployment's encryption key can make and read. It is
 * good for one connection, for streams to one agent or for the relay, at one process, once and for a minute. agents-and-apps.md §17.
 */
import { Encryption, service, Timestamp, Uuid } from "@atelier/core/platform"
import { Clock, Context, Effect, Option, Schema } from "effect"

/** Milliseconds in which a pass has to arrive: clocks of processes may differ by some of it. */
const lifetime = 60_000

/** Passes that are remembered as used: more connections within their lifetime are refused. */
const maximumUsed = 100_000

/** Characters of a pass. */
const maximumText = 2_048

const Pass = Schema.parseJson(
  Schema.Struct({
    /** The process that it is for. */
    to: Uuid.Uuid,
    /** The agent whose streams are asked for; null for the relay. */
    agent_id: Schema.NullOr(Uuid.Uuid),
    nonce: Uuid.Uuid,
    /** Milliseconds since 1970. */
    expires: Schema.Number
  })
)
type Pass = typeof Pass.Type

const encode = Schema.encodeSync(Pass)
const decode = Schema.decodeUnknownOption(Pass)

const requestPlace = "replica stream: request"
const answerPlace = "replica stream: answer"

const make = Effect.gen(function* () {
  const encryption = yield* Encryption
  const used = new Map<Uuid.Uuid, number>()

  const sealed = (text: string, place: string) =>
    Effect.map(
      encryption.seal(new TextEncoder().encode(text), place),
      ({ ciphertext, key_id }) => `${Buffer.from(key_id).toString("base64url")}.${Buffer.from(ciphertext).toString("base64url")}`
    )

  const opened = (text: string, place: string): Effect.Effect<Option.Option<string>> => {
    const [keyId = "", ciphertext = "", ...more] = text.length > maximumText ? [] : text.split(".")
    if (ciphertext === "" || more.length > 0) return Effect.succeedNone
    const value = { key_id: Buffer.from(keyId, "base64url").toString(), ciphertext: new Uint8Array(Buffer.from(ciphertext, "base64url")) }
    return Effect.option(Effect.map(encryption.open(value, place), (bytes) => new TextDecoder().decode(bytes)))
  }

  /** Forgets what can no longer be used again. */
  const isFirstUse = ({ expires, nonce }: Pass, now: number): boolean => {
    for (const [known, until] of used) {
      if (until > now) break
      used.delete(known)
    }
    if (used.has(nonce) || used.size >= maximumUsed) return false
    used.set(nonce, expires)
    return true
  }

  return {
    /** A pass for a connection, and the check of the other side's answer to it. */
    issue: (to: Uuid.Uuid, agent_id: Uuid.Uuid | null, nonce: Uuid.Uuid) =>
      Effect.gen(function* () {
        const expires = Timestamp.toMillis(yield* Timestamp.now) + lifetime
        return {
          text: yield* sealed(encode({ to, agent_id, nonce, expires }), requestPlace),
          isAnsweredBy: (answer: string) => Effect.map(opened(answer, answerPlace), (found) => Option.getOrUndefined(found) === nonce)
        }
      }),

    /** The agent of a pass, and the answer that proves this process to the caller; None for a pass that is wrong, late or used. */
    redeem: (text: string, self: Uuid.Uuid) =>
      Effect.gen(function* () {
        const pass = Option.flatMap(yield* opened(text, requestPlace), decode)
        const now = yield* Clock.currentTimeMillis
        if (Option.isNone(pass)) return Option.none()
        const { agent_id, expires, nonce, to } = pass.value
        if (to !== self || expires <= now || expires > now + 2 * lifetime || !isFirstUse(pass.value, now)) return Option.none()
        return Option.some({ agent_id, answer: yield* sealed(nonce, answerPlace) })
      })
  }
})

export class Passes extends Context.Tag("@atelier/http/Passes")<Passes, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(Passes, make)
}
