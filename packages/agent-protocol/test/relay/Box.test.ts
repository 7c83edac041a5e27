import { describe, expect, it } from "vitest"
import nacl from "tweetnacl"
import { Relay } from "../../src/index.js"

const { Box } = Relay

const relay = Box.keyPairOf(new Uint8Array(32).fill(1))
const client = Box.keyPairOf(new Uint8Array(32).fill(2))
const nonce = new Uint8Array(24).fill(3)

const payload = (plaintext: string | Uint8Array, from = client) => {
  const bytes = typeof plaintext === "string" ? new TextEncoder().encode(plaintext) : plaintext
  return Uint8Array.from([...client.publicKey, ...nonce, ...nacl.box(bytes, nonce, relay.publicKey, from.secretKey)])
}

describe("the handshake of the relay", () => {
  it("gives both sides a key that seals what they say", () => {
    const opened = Box.openClientInfo(payload('{"version":2}'), relay.secretKey)
    expect(opened?.publicKey).toEqual(client.publicKey)
    const [, box] = Box.sealServerInfo(opened?.shared ?? new Uint8Array(32), nonce)
    expect(new TextDecoder().decode(nacl.box.open(box, nonce, relay.publicKey, client.secretKey) ?? undefined)).toBe('{"version":2}')
  })

  it.each(["{}", "null", '{"version":7,"meshKey":"nonsense"}'])("opens a ClientInfo that says %s", (text) => {
    expect(Box.openClientInfo(payload(text), relay.secretKey)?.publicKey).toEqual(client.publicKey)
  })

  it.each(["", "[]", "3", "{", "[".repeat(100_000)])("refuses a ClientInfo whose text is no object", (text) => {
    expect(Box.openClientInfo(payload(text), relay.secretKey)).toBeUndefined()
  })

  it("refuses a box of another key than the one that it names", () => {
    expect(Box.openClientInfo(payload("{}", Box.keyPairOf(new Uint8Array(32).fill(4))), relay.secretKey)).toBeUndefined()
  })

  it("refuses a changed box", () => {
    const changed = payload("{}")
    changed[60] = (changed[60] ?? 0) ^ 1
    expect(Box.openClientInfo(changed, relay.secretKey)).toBeUndefined()
    expect(Box.openClientInfo(new Uint8Array(56), relay.secretKey)).toBeUndefined()
  })
})
