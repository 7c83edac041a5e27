import { expect, it } from "vitest"
import { nodeCiphers } from "../../../http/src/privateNetwork/nodeCiphers.js"
import { Tunnel } from "../../src/wireguard/Tunnel.js"

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0+$/, "")
const packet = (characters: string): Uint8Array => new TextEncoder().encode(characters)

interface End {
  readonly tunnel: Tunnel
  readonly received: Array<string>
  /** Messages that it has sent and that are not delivered yet. */
  readonly sent: Array<Uint8Array>
}

/** Two ends, and the time that both see. */
const pair = () => {
  const keys = [nodeCiphers.keyPair(), nodeCiphers.keyPair()] as const
  let index = 0
  const end = (at: 0 | 1): End => {
    const received: Array<string> = []
    const sent: Array<Uint8Array> = []
    const tunnel = new Tunnel({
      ciphers: nodeCiphers,
      own: keys[at],
      peerKey: keys[at === 0 ? 1 : 0].publicKey,
      send: (message) => void sent.push(message),
      receive: (bytes) => void received.push(text(bytes)),
      randomIndex: () => ++index,
      wallClock: () => 1_800_000_000_000
    })
    return { tunnel, received, sent }
  }
  const [near, far] = [end(0), end(1)]
  /** Delivers until both ends are silent. */
  const settle = (now: number): void => {
    while (near.sent.length + far.sent.length > 0) {
      for (const message of near.sent.splice(0)) far.tunnel.take(message, now)
      for (const message of far.sent.splice(0)) near.tunnel.take(message, now)
    }
  }
  return { near, far, settle }
}

it("carries packets both ways once the handshake is done", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("hello"), 0)
  settle(0)
  expect(far.received).toStrictEqual(["hello"])
  far.tunnel.send(packet("good day"), 1)
  settle(1)
  expect(near.received).toStrictEqual(["good day"])
  expect(near.tunnel.isOpen(1)).toBe(true)
})

it("goes on when both ends begin at once", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("one"), 0)
  far.tunnel.send(packet("two"), 0)
  settle(0)
  near.tunnel.send(packet("three"), 1)
  far.tunnel.send(packet("four"), 1)
  settle(1)
  expect([far.received, near.received]).toStrictEqual([
    ["one", "three"],
    ["two", "four"]
  ])
})

it("tries a lost handshake again, and gives it up after 90 seconds", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("hello"), 0)
  for (let now = 0; now < 120_000; now += 100) near.tunnel.tick(now)
  // After 0, 1 and 3 seconds, and each 5 seconds from then on
  expect(near.sent.splice(0)).toHaveLength(20)
  settle(120_000)
  near.tunnel.send(packet("again"), 120_000)
  settle(120_000)
  expect(far.received).toStrictEqual(["again"])
})

it("takes a message once, in any order, and no message of an old session", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("first"), 0)
  settle(0)
  for (let count = 0; count < 3000; count++) near.tunnel.send(packet(String(count)), 1)
  const messages = near.sent.splice(0)
  const [oldest] = messages
  for (const message of messages.toReversed().concat(messages)) far.tunnel.take(message, 1)
  expect(new Set(far.received).size).toBe(far.received.length)
  expect(far.received).toHaveLength(1 + 2016)
  if (oldest !== undefined) far.tunnel.take(oldest, 1)
  near.tunnel.send(packet("late"), 1)
  const [late] = near.sent.splice(0)
  if (late !== undefined) far.tunnel.take(late, 180_001)
  expect(far.received).toHaveLength(1 + 2016)
})

it("makes new keys after two minutes of use without losing a packet", () => {
  const { far, near, settle } = pair()
  const count = 500
  for (let at = 0; at < count; at++) {
    const now = at * 1000
    near.tunnel.tick(now)
    far.tunnel.tick(now)
    if (at % 2 === 0) near.tunnel.send(packet(`near ${at}`), now)
    else far.tunnel.send(packet(`far ${at}`), now)
    settle(now)
  }
  expect([near.received.length, far.received.length]).toStrictEqual([count / 2, count / 2])
})

it("answers a packet within ten seconds, and asks a silent peer for new keys after fifteen", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("hello"), 0)
  settle(0)
  far.tunnel.tick(9_900)
  expect(far.sent).toHaveLength(0)
  far.tunnel.tick(10_000)
  // A message without a packet
  expect(far.sent.map(({ length }) => length)).toStrictEqual([32])
  settle(10_000)
  near.tunnel.send(packet("lost"), 20_000)
  near.sent.splice(0)
  near.tunnel.tick(34_900)
  expect(near.sent).toHaveLength(0)
  near.tunnel.tick(35_000)
  expect(near.sent.map(({ length }) => length)).toStrictEqual([148])
})

it("is neither ended nor changed by messages of others, copies and damaged ones", () => {
  const { far, near, settle } = pair()
  near.tunnel.send(packet("hello"), 0)
  const [initiation = new Uint8Array(0)] = near.sent
  settle(0)
  near.tunnel.send(packet("second"), 1)
  const [data = new Uint8Array(0)] = near.sent.splice(0)
  const stranger = pair()
  stranger.near.tunnel.begin(0)
  const others = [initiation, ...stranger.near.sent]
  let now = 1000
  for (const message of [...others, data])
    for (let at = 0; at < message.length; at++) {
      const damaged = message.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 0x55
      far.tunnel.take(damaged, (now += 60))
      far.tunnel.take(message.subarray(0, at), (now += 60))
    }
  for (const message of others) far.tunnel.take(message, (now += 60))
  expect(far.sent).toHaveLength(0)
  far.tunnel.take(data, now)
  expect(far.received).toStrictEqual(["hello", "second"])
})
