import { issueResumeToken, peerOfResumeToken } from "@atelier/core/network"
import { Encryption, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, TestClock } from "effect"

const [peer, holder, stranger] = [1, 2, 3].map((index) => Uuid.Uuid.make(`00000000-0000-4000-8000-00000000000${index}`)) as [
  Uuid.Uuid,
  Uuid.Uuid,
  Uuid.Uuid
]

/** Hides nothing: the tokens are what is tested. */
const encryption = Layer.succeed(Encryption, {
  keyId: "key",
  seal: (plain) => Effect.succeed({ key_id: "key", ciphertext: plain }),
  open: ({ ciphertext }) => Effect.succeed(ciphertext),
  has: (keyId) => Effect.succeed(keyId === "key")
})

layer(encryption)("a resume token", (it) => {
  it.effect("is good for a day, for the one that it was given to", () =>
    Effect.gen(function* () {
      const { refresh_in, token } = yield* issueResumeToken(peer, holder)
      expect(Duration.toHours(refresh_in)).toBe(12)
      expect(yield* peerOfResumeToken(token, holder)).toStrictEqual(Option.some(peer))
      expect(yield* peerOfResumeToken(token, stranger)).toStrictEqual(Option.none())
      yield* TestClock.adjust("23 hours")
      expect(yield* peerOfResumeToken(token, holder)).toStrictEqual(Option.some(peer))
      yield* TestClock.adjust("1 hour")
      expect(yield* peerOfResumeToken(token, holder)).toStrictEqual(Option.none())
    })
  )

  it.effect.each(["", ".", "a.b", "x".repeat(2000)])("is not %j", (text) =>
    Effect.gen(function* () {
      expect(yield* peerOfResumeToken(text, holder)).toStrictEqual(Option.none())
    })
  )
})
