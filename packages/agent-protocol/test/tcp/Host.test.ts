import { expect, it } from "vitest"
import { Host } from "../../src/tcp/Host.js"
import { decode, encode, Flag, type Segment } from "../../src/tcp/Segment.js"

const own = Uint8Array.from({ length: 16 }, () => 1)
const peer = Uint8Array.from({ length: 16 }, () => 2)
const outbound = { source: own, destination: peer }
const inbound = { source: peer, destination: own }

/** A host with its packets, whose random numbers are always the same. */
const aHost = () => {
  const sent: Array<Segment | undefined> = []
  const host = new Host({
    ownAddress: own,
    peerAddress: peer,
    send: (packet) => void sent.push(decode(outbound, packet)),
    random: () => 5
  })
  return { host, sent }
}

const segment = { sourcePort: 80, destinationPort: 50_000, sequence: 7, acknowledgment: 99, window: 1000 }

it.each([
  ["data", { ...segment, flags: Flag.ack, data: new Uint8Array(3) }, { flags: Flag.rst, sequence: 99 }],
  ["an opening", { ...segment, flags: Flag.syn, data: new Uint8Array(0) }, { flags: Flag.rst | Flag.ack, sequence: 0, acknowledgment: 8 }]
])("%s for no connection is answered with a reset", (_, arriving, answer) => {
  const { host, sent } = aHost()
  host.take(encode(inbound, arriving), 0)
  host.take(encode(inbound, { ...arriving, flags: Flag.rst }), 0)
  expect(sent).toMatchObject([{ sourcePort: 50_000, destinationPort: 80, ...answer }])
})
