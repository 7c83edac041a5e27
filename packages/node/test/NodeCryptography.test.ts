import { Cryptography } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { NodeCryptography } from "../src/index.js"

const encoder = new TextEncoder()

const inHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

for (const [name, layer] of [
  ["Node's module", NodeCryptography.layer],
  ["the Web Cryptography API", Cryptography.layerWeb]
] as const) {
  describe(`SHA-256 by ${name}`, () => {
    it.effect("of a text is that of its UTF-8", () =>
      Effect.gen(function* () {
        const { sha256 } = yield* Cryptography
        for (const text of ["", "abc", "é😀", "a\0b", "\ud800", "a".repeat(5 * 1024 * 1024)]) {
          expect(inHex(yield* sha256(text))).toBe(inHex(yield* sha256(encoder.encode(text))))
        }
        // FIPS 180-4's own example
        expect(inHex(yield* sha256("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      }).pipe(Effect.provide(layer))
    )
  })
}
