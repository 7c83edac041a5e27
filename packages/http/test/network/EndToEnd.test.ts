/** A client and an agent that meet at the coordinator, and exchange packets over the relay. */
import { Relay } from "@atelier/agent-protocol"
import { Uuid } from "@atelier/core/platform"
import { randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { type AgentConnection, type AgentServer, startAgentServer } from "../agents/AgentServer.js"
import { agentNode, bytesOf, clientNode, coordinate, tunnelTo } from "./peers.js"
import { enter, rawPeer, type RelayPeer, upgradeHead } from "./relay/RelayPeer.js"
import { startTwoServers } from "./twoServers.js"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame

/** One end of a tunnel: its part in the coordination, and its connection to the relay under the same key. */
const endOf = async (connection: AgentConnection, server: AgentServer, keys = Relay.Box.keyPairOf(randomBytes(32))) => {
  const relay = await rawPeer(server.url, upgradeHead())
  await enter(relay, keys)
  return { connection, keys, relay, peer: coordinate(connection) }
}
type End = Awaited<ReturnType<typeof endOf>>

const frame = async (relay: RelayPeer): Promise<string> => {
  const item = await relay.next()
  if (item._tag !== "frame") return item._tag
  return item.type === FrameType.RecvPacket ? Buffer.from(item.payload, "hex").subarray(RelayFrame.keyLength).toString() : String(item.type)
}

const sendTo = ({ keys }: End, from: End, text: string): void =>
  from.relay.send(RelayFrame.make(FrameType.SendPacket, keys.publicKey, Buffer.from(text)))

/** Sends until the other end has heard it, as WireGuard begins a session: a relay drops packets for clients that it does not know yet. */
const say = async (from: End, to: End, text: string): Promise<void> => {
  const knocking = setInterval(() => sendTo(to, from, text), 50)
  expect(await until(to.relay, text)).toBe(text)
  clearInterval(knocking)
}

/** Says a word each way. The relays of two processes learn of their clients one after the other. */
const exchange = async (from: End, to: End, word: string): Promise<void> => {
  await say(from, to, word)
  await say(to, from, `${word} too`)
}

/** The packet with a text, after those that are repetitions. */
const until = async (relay: RelayPeer, text: string): Promise<string> => {
  for (let count = 0; count < 100; count++) if ((await frame(relay)) === text) return text
  return "nothing"
}

/** Connects both ends, introduces them to each other, and lets them exchange packets. */
const meet = async (near: AgentServer, far: AgentServer) => {
  const owner = near.owner()
  const { id, token } = await near.anAgent({}, owner)
  const client = await endOf(await near.join("/tailnet", owner.token), near)
  const agent = await endOf(await far.connect(token), far)
  agent.peer.send(agentNode(id))
  client.peer.send({ ...clientNode, ...tunnelTo(id) })
  expect(await client.peer.next()).toStrictEqual([[id, "NODE", 999]])
  const [introduction] = await agent.peer.next()
  const clientId = Uuid.Uuid.make(String(introduction?.[0]))
  agent.peer.send({ ready_for_handshake: [{ id: bytesOf(clientId) }] })
  expect(await client.peer.next()).toStrictEqual([[id, "READY_FOR_HANDSHAKE"]])
  await exchange(client, agent, "hello")
  return { id, token, client, agent, clientId }
}

it("goes on after the agent was lost and has come back, on one process", async () => {
  const server = await startAgentServer(sqlite, {})
  const { agent, client, clientId, id, token } = await meet(server, server)
  await agent.relay.leave()
  await agent.connection.close()
  expect(await client.peer.next()).toStrictEqual([[id, "LOST"]])
  const back = await endOf(await server.connect(token), server)
  back.peer.send(agentNode(id, 4))
  expect(await client.peer.next()).toStrictEqual([[id, "NODE", 4]])
  expect(await back.peer.next()).toStrictEqual([[clientId, "NODE", 999]])
  await exchange(client, back, "again")
  await Promise.all([back.relay.leave(), client.relay.leave()])
  await Promise.all([back.connection.close(), client.connection.close()])
  await server.close()
})

it("goes on after the agent's process was lost, on two processes", async () => {
  const { close, far, loseFar, near } = await startTwoServers()
  const { agent, client, clientId, id, token } = await meet(near, far)
  await loseFar()
  expect(await client.peer.next()).toStrictEqual([[id, "LOST"]])
  const back = await endOf(await near.connect(token), near, agent.keys)
  back.peer.send(agentNode(id, 4))
  expect(await client.peer.next()).toStrictEqual([[id, "NODE", 4]])
  expect(await back.peer.next()).toStrictEqual([[clientId, "NODE", 999]])
  await say(client, back, "again")
  await Promise.all([back.relay.leave(), client.relay.leave()])
  await Promise.all([agent, back, client].map(({ connection }) => connection.close()))
  await close()
})
