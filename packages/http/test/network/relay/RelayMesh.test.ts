/** Clients of the relay that are connected to different processes of a deployment. */
import { Relay } from "@atelier/agent-protocol"
import { Replicas } from "@atelier/core/deployment"
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import { WebSocket } from "ws"
import { Passes } from "../../../src/replicas/Passes.js"
import type { AgentServer } from "../../agents/AgentServer.js"
import { startTwoServers, type TwoServers } from "../twoServers.js"
import { enter, rawPeer, type RelayPeer, upgradeHead } from "./RelayPeer.js"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame
type Keys = Relay.Box.KeyPair

let servers: TwoServers
let one: AgentServer
let two: AgentServer
beforeAll(async () => {
  servers = await startTwoServers()
  ;({ near: one, far: two } = servers)
})
afterAll(() => servers.close())

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const client = async (server: AgentServer, keys?: Keys): Promise<readonly [RelayPeer, Keys]> => {
  const peer = await rawPeer(server.url, upgradeHead())
  return [peer, await enter(peer, keys)]
}

const send = (peer: RelayPeer, { publicKey }: Keys, packet: Uint8Array): void =>
  peer.send(RelayFrame.make(FrameType.SendPacket, publicKey, packet))

/** The next frame of a peer; PeerGone by its name. */
const next = async (peer: RelayPeer): Promise<string> => {
  const item = await peer.next()
  if (item._tag !== "frame") return item._tag
  return item.type === FrameType.RecvPacket ? item.payload : item.type === FrameType.PeerGone ? `gone ${item.payload}` : String(item.type)
}

/** Sends until a packet has arrived: a process hears of another's clients in its own time. */
const met = async (from: RelayPeer, to: RelayPeer, keys: Keys): Promise<void> => {
  const knocking = setInterval(() => send(from, keys, Uint8Array.of(0)), 50)
  await next(to)
  clearInterval(knocking)
}

/** The packets after those that only looked for the way. */
const past = async (peer: RelayPeer): Promise<string> => {
  for (;;) {
    const frame = await next(peer)
    if (!frame.endsWith("00") || frame.length !== 66) return frame
  }
}

it("forwards packets both ways in their order, and tells peers that one has gone", async () => {
  const [a, aKeys] = await client(one)
  const [b, bKeys] = await client(two)
  await Promise.all([met(a, b, bKeys), met(b, a, aKeys)])
  const packets = Array.from({ length: 300 }, (_, at) => Uint8Array.of(at >> 8, at & 255, 7))
  for (const packet of packets) {
    send(a, bKeys, packet)
    send(b, aKeys, packet)
  }
  const all = async (peer: RelayPeer, from: Keys) => {
    expect(await past(peer)).toBe(hex(from.publicKey) + hex(packets[0] ?? new Uint8Array()))
    for (const packet of packets.slice(1)) expect(await next(peer)).toBe(hex(from.publicKey) + hex(packet))
  }
  await Promise.all([all(b, aKeys), all(a, bKeys)])
  const largest = new Uint8Array(RelayFrame.maximumPacket).fill(9)
  send(a, bKeys, largest)
  expect(await next(b)).toBe(hex(aKeys.publicKey) + hex(largest))
  await b.leave()
  expect(await next(a)).toBe(`gone ${hex(bKeys.publicKey)}00`)
  await a.leave()
})

it("prefers a connection to the same process, and goes on over the other one", async () => {
  const [a] = await client(one)
  const [elsewhere, keys] = await client(two)
  await met(a, elsewhere, keys)
  const [here] = await client(one, keys)
  send(a, keys, Uint8Array.of(1))
  expect(await next(here)).toMatch(/01$/)
  await here.leave()
  send(a, keys, Uint8Array.of(2))
  expect(await past(elsewhere)).toMatch(/02$/)
  await Promise.all([a.leave(), elsewhere.leave()])
})

it("loses no client for good when the connection between the processes breaks", async () => {
  const [a, aKeys] = await client(one)
  const [b, bKeys] = await client(two)
  await Promise.all([met(a, b, bKeys), met(b, a, aKeys)])
  servers.cut()
  await Promise.all([met(a, b, bKeys), met(b, a, aKeys)])
  await Promise.all([a.leave(), b.leave()])
})

/** Connects to the second process as another one, and gives the code with which it closes, or the status of its refusal. */
const asProcess = async (path: string, agent_id: Uuid.Uuid | null, message?: Uint8Array | string): Promise<number | undefined> => {
  const to = await two.run(Effect.map(Replicas, ({ id }) => id))
  const pass = await one.run(
    Effect.flatMap(Effect.flatten(Effect.serviceOption(Passes)), ({ issue }) => issue(to, agent_id, Uuid.Uuid.make(randomUUID())))
  )
  return new Promise((resolve) => {
    const socket = new WebSocket(`${two.url.replace("http", "ws")}${path}`, { headers: { authorization: `Replica ${pass.text}` } })
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode))
    socket.on("open", () => message !== undefined && socket.send(message))
    socket.on("close", resolve)
    socket.on("error", () => undefined)
  })
}

it("takes passes for the relay alone, and packets alone", async () => {
  const [relay, streams] = ["/internal/replicas/relay", "/internal/replicas/streams"]
  expect(await asProcess(relay, Uuid.Uuid.make(randomUUID()))).toBe(404)
  expect(await asProcess(streams, null)).toBe(404)
  const short = new Uint8Array(40)
  const lies = Buffer.concat([new Uint8Array(32), RelayFrame.make(FrameType.RecvPacket, new Uint8Array(32))])
  lies.writeUInt32BE(1_000_000, 33)
  const other = Buffer.concat([new Uint8Array(32), RelayFrame.make(FrameType.PeerGone, new Uint8Array(33))])
  const large = Buffer.concat([
    new Uint8Array(32),
    RelayFrame.make(FrameType.RecvPacket, new Uint8Array(32 + RelayFrame.maximumPacket + 1))
  ])
  for (const message of ["text", short, lies, other, large]) expect(await asProcess(relay, null, message)).toBe(1002)
})

it("tells peers of a process that has ended", async () => {
  const [a, aKeys] = await client(one)
  const [b, bKeys] = await client(two)
  await Promise.all([met(a, b, bKeys), met(b, a, aKeys)])
  send(b, aKeys, Uint8Array.of(5))
  expect(await past(a)).toMatch(/05$/)
  await two.atelier.dispose()
  expect(await past(a)).toBe(`gone ${hex(bKeys.publicKey)}00`)
  await a.leave()
})
