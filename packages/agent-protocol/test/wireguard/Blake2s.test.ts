import { createHash, createHmac, randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { derive, hash, hmac, mac } from "../../src/wireguard/Blake2s.js"

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

it("hashes texts of every length around a block as Node's library does", () => {
  for (const length of [0, 1, 3, 63, 64, 65, 127, 128, 129, 1000]) {
    const text = randomBytes(length)
    expect(hex(hash(text))).toBe(createHash("blake2s256").update(text).digest("hex"))
    expect(hex(hmac(text.subarray(0, 32), text))).toBe(createHmac("blake2s256", text.subarray(0, 32)).update(text).digest("hex"))
  }
})

it("hashes with a key as an independent implementation does", () => {
  const key = Uint8Array.from({ length: 32 }, (_, index) => index)
  // hashlib.blake2s(b"atelier" * n, key=bytes(range(32)), digest_size=16)
  expect(hex(mac(key, Buffer.alloc(0)))).toBe("9536f9b267655743dee97b8a670f9f53")
  expect(hex(mac(key, Buffer.from("atelier")))).toBe("647d43f79f382f03a0142d0e236d449b")
  expect(hex(mac(key, Buffer.from("atelier".repeat(20))))).toBe("5b00455d400a6b35e18fae5d9442f69c")
})

it("derives keys as HKDF does", () => {
  const [chain, input] = [randomBytes(32), randomBytes(32)]
  const keyed = (key: Uint8Array, ...parts: ReadonlyArray<Uint8Array>) =>
    createHmac("blake2s256", key).update(Buffer.concat(parts)).digest()
  const secret = keyed(chain, input)
  const first = keyed(secret, Uint8Array.of(1))
  const second = keyed(secret, first, Uint8Array.of(2))
  expect(derive(chain, input).map(hex)).toStrictEqual([first, second, keyed(secret, second, Uint8Array.of(3))].map(hex))
})
