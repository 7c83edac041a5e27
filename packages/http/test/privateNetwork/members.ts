/** Agents that take part in the private network, as tests of it play them. */
import { Relay, type TailnetMessages, Uuid as ProtocolUuid, WireGuard } from "@atelier/agent-protocol"
import { addressesOf, Coordinator } from "@atelier/core/network"
import { Effect, Fiber, Mailbox, Option, Stream } from "effect"
import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished } from "vitest"
import { decode, encode, type Segment } from "../../../agent-protocol/src/tcp/Segment.js"
import { nodeCiphers } from "../../src/privateNetwork/nodeCiphers.js"
import type { AgentServer, RunningAgent } from "../agents/AgentServer.js"
import { enter, rawPeer, upgradeHead } from "../network/relay/RelayPeer.js"

/** A member that an agent is told of: its key in hexadecimal digits, and its address. */
interface Member {
  readonly key: string
  readonly address: string
}

/** Takes an agent's part in the coordination with a key. `meet` prepares for a member before the agent says that it is ready for it. */
const coordinate = async (server: AgentServer, agent: RunningAgent, key: string, meet: (member: Member) => Promise<void>) => {
  const connection = await server.connect(agent.token, "?role=agent")
  await Effect.runPromise(connection.agent.GetManifest({}))
  const requests = Effect.runSync(Mailbox.make<TailnetMessages.CoordinateRequestInit>())
  const addresses = addressesOf(agent.id).map((address) => `${address}/128`)
  const members: Array<string> = []
  const left: Array<string> = []
  const taking = connection.tailnet.Coordinate(Mailbox.toStream(requests)).pipe(
    Stream.mapConcat(({ peer_updates }) => peer_updates),
    Stream.runForEach(({ id, kind, node }) => {
      const member = Option.getOrThrow(ProtocolUuid.fromBytes(id))
      if (kind === "DISCONNECTED" || kind === "LOST") left.push(member)
      if (kind !== "NODE" || node === undefined) return Effect.void
      members.push(member)
      const [address = ""] = node.addresses
      return Effect.promise(async () => {
        await meet({ key: Buffer.from(node.key.subarray(2)).toString("hex"), address: address.replace("/128", "") })
        requests.unsafeOffer({ ready_for_handshake: [{ id }] })
      })
    }),
    Effect.ignore
  )
  const fiber = Effect.runFork(taking)
  requests.unsafeOffer({
    update_self: {
      node: {
        id: 7n,
        key: Buffer.concat([Buffer.from("np"), Buffer.from(key, "hex")]),
        disco: `discokey:${key}`,
        preferred_derp: 999,
        addresses,
        allowed_ips: addresses
      }
    }
  })
  const isMember = (): Promise<boolean> => server.run(Effect.map(Coordinator, ({ isConnected }) => isConnected(agent.id)))
  await expect.poll(isMember, { interval: 10 }).toBe(true)
  return {
    connection,
    /** The ids of the members that it was told of, and of those that it was told to have gone. */
    members,
    left,
    /** Leaves the private network. */
    leave: () => void requests.unsafeOffer({ disconnect: {} }),
    /** Ends without a word. */
    vanish: async () => {
      await Effect.runPromise(Fiber.interrupt(fiber))
      await connection.close()
    }
  }
}

const cache = fileURLToPath(new URL("../../../../node_modules/.cache/network-peer", import.meta.url))

const names = existsSync(cache) ? readdirSync(cache) : []

/** The program that `scripts/network-peer.mjs` builds, named by 16 digits; undefined where it is not built. One that is being built has a longer name. */
const program = names.filter((name) => /^[0-9a-f]{16}$/.test(name)).map((name) => join(cache, name))[0]

/** Why tests with the program are skipped; undefined if they run. */
export const missing = program === undefined ? "the peer is missing: run scripts/network-peer.mjs" : undefined

/** An agent whose WireGuard and TCP are those of a program in Go. It is connected to the relay of a server. */
export const goAgent = async (server: AgentServer, agent: RunningAgent) => {
  const [address = ""] = addressesOf(agent.id)
  const running = spawn(program ?? "", [server.url, address], { stdio: ["pipe", "pipe", "inherit"] })
  const kill = (): void => void running.kill("SIGKILL")
  onTestFinished(kill)
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  const word = async (expected: string): Promise<string> => {
    const { value } = await lines.next()
    const [first, second = ""] = String(value).split(" ")
    if (first !== expected) throw new Error(`the peer says ${String(value)}`)
    return second
  }
  const key = await word("key")
  const part = await coordinate(server, agent, key, async (member) => {
    running.stdin.write(`peer ${member.key} ${member.address}\n`)
    await word("ready")
  })
  return { ...part, kill }
}

const bytesOf = (address: string): Uint8Array => Buffer.from(address.replaceAll(":", ""), "hex")

/** An agent whose segments the test writes one by one. */
export const scriptedAgent = async (server: AgentServer, agent: RunningAgent) => {
  const own = nodeCiphers.keyPair()
  const relay = await rawPeer(server.url, upgradeHead())
  onTestFinished(relay.leave)
  await enter(relay, own)
  const segments = Effect.runSync(Mailbox.make<Segment>())
  const ownAddress = bytesOf(addressesOf(agent.id)[0] ?? "")
  let peer: { readonly tunnel: WireGuard.Tunnel; readonly key: Uint8Array; readonly address: Uint8Array } | undefined
  /** Sends any bytes to the server's end. */
  const throwAt = (bytes: Uint8Array): void =>
    relay.send(Relay.RelayFrame.make(Relay.RelayFrame.FrameType.SendPacket, peer?.key ?? new Uint8Array(32), bytes))
  const sent: Array<Uint8Array> = []
  const part = await coordinate(server, agent, Buffer.from(own.publicKey).toString("hex"), async ({ address, key }) => {
    const peerAddress = bytesOf(address)
    const peerKey = Buffer.from(key, "hex")
    const tunnel = new WireGuard.Tunnel({
      ciphers: nodeCiphers,
      own,
      peerKey,
      send: (message) => {
        sent.push(message)
        throwAt(message)
      },
      receive: (packet) => {
        const segment = decode({ source: peerAddress, destination: ownAddress }, packet)
        if (segment !== undefined) segments.unsafeOffer(segment)
      },
      randomIndex: () => Math.floor(Math.random() * 2 ** 32),
      wallClock: Date.now
    })
    peer = { tunnel, key: peerKey, address: peerAddress }
  })
  const listening = async (): Promise<void> => {
    for (;;) {
      const item = await relay.next()
      if (item._tag !== "frame") return
      const payload = Buffer.from(item.payload, "hex")
      if (item.type === Relay.RelayFrame.FrameType.RecvPacket) peer?.tunnel.take(new Uint8Array(payload.subarray(32)), performance.now())
    }
  }
  void listening()
  /** Sends any bytes through the tunnel. */
  const send = (packet: Uint8Array): void => peer?.tunnel.send(packet, performance.now())
  return {
    ...part,
    /** The messages that the agent has sent. */
    sent,
    throwAt,
    send,
    /** The next segment of the server. */
    segment: (): Promise<Segment> => Effect.runPromise(segments.take),
    reply: (segment: Segment): void => {
      if (peer !== undefined) send(encode({ source: ownAddress, destination: peer.address }, segment))
    }
  }
}
