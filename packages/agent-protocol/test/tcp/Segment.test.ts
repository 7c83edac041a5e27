import { expect, it } from "vitest"
import { decode, encode, Flag, maximumPacket } from "../../src/tcp/Segment.js"

it("a packet that is larger than agreed is dropped", () => {
  const route = { source: new Uint8Array(16).fill(1), destination: new Uint8Array(16).fill(2) }
  const data = new Uint8Array(3)
  const packet = encode(route, {
    sourcePort: 80,
    destinationPort: 50_000,
    sequence: 7,
    acknowledgment: 99,
    flags: Flag.ack,
    window: 1000,
    data
  })
  const padded = (length: number): Uint8Array => {
    const bytes = new Uint8Array(length)
    bytes.set(packet)
    return bytes
  }
  expect(decode(route, padded(maximumPacket))).toMatchObject({ sequence: 7, data })
  expect(decode(route, padded(maximumPacket + 1))).toBeUndefined()
})
