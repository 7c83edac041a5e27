// What the relay forwards between pairs of clients, and the memory that an idle client of the relay and a peer of the coordinator take. The load is
// made by this process, so that both share the machine.
import { Frame, Packet, Relay, TailnetMessages } from "@atelier/agent-protocol"
import { Either } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { WebSocket } from "ws"
import { startDeployment } from "../deployment.mjs"
import { openMany } from "./held.mjs"

const { Box, FrameReader, RelayFrame } = Relay
const { FrameType } = RelayFrame

const idleClients = 2000
const idlePeers = 1000
const atOnce = 50

/** How far a sender may be ahead of its receiver, in bytes: more would be lost on the way, as it has to be. */
const ahead = 256 * 1024

/** A client that has proved a key of its own; `onPacket` gets the bytes of each packet. */
const open = (port, onPacket = () => {}) =>
  new Promise((resolve, reject) => {
    const keys = Box.keyPairOf(randomBytes(32))
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    const reader = new FrameReader({
      treatment: () => ({ minimum: 0, maximum: 1 << 20 }),
      receive: (frame) => {
        const type = RelayFrame.typeOf(frame)
        if (type === FrameType.ServerKey) {
          const relayKey = RelayFrame.payloadOf(frame).slice(RelayFrame.magic.length)
          socket.write(RelayFrame.make(FrameType.ClientInfo, ...Box.sealClientInfo('{"version":2}', randomBytes(24), relayKey, keys)))
        } else if (type === FrameType.ServerInfo) resolve({ key: keys.publicKey, socket })
        else if (type === FrameType.RecvPacket) onPacket(frame.length - RelayFrame.headerLength - RelayFrame.keyLength)
        return undefined
      }
    })
    socket.once("error", reject)
    socket.on("data", (bytes) => reader.push(bytes))
    socket.once("connect", () =>
      socket.write("GET /derp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: DERP\r\nDerp-Fast-Start: 1\r\n\r\n")
    )
  })

const openClient = async (port) => {
  const { socket } = await open(port)
  return () => socket.destroy()
}

/** Packets and bytes that pairs receive in some seconds. Each sends while no more than a bound is on its way. */
const exchange = async (port, pairs, size, seconds) => {
  const received = { packets: 0, bytes: 0 }
  const sockets = []
  for (let pair = 0; pair < pairs; pair++) {
    let onItsWay = 0
    let isWaiting = false
    const target = await open(port, (bytes) => {
      received.packets++
      received.bytes += bytes
      onItsWay -= bytes
      if (!isWaiting && onItsWay < limit / 2) send()
    })
    const source = await open(port)
    sockets.push(target.socket, source.socket)
    const packet = RelayFrame.make(FrameType.SendPacket, target.key, new Uint8Array(size))
    const many = Math.max(1, Math.floor(32_768 / packet.length))
    const batch = Buffer.concat(Array.from({ length: many }, () => packet))
    const limit = Math.max(2 * many * size, Math.min(ahead, 400 * size))
    const send = () => {
      while (onItsWay < limit) {
        onItsWay += many * size
        if (!source.socket.write(batch)) {
          isWaiting = true
          return void source.socket.once("drain", () => {
            isWaiting = false
            send()
          })
        }
      }
    }
    send()
  }
  const before = { ...received }
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const elapsed = (performance.now() - began) / 1000
  const result = { packets: (received.packets - before.packets) / elapsed, bytes: (received.bytes - before.bytes) / elapsed }
  for (const socket of sockets) socket.destroy()
  return result
}

/** What a client sends to take part in the private network as a peer, and a ping after it. */
const asPeer = () => {
  const addresses = [`fd7a:115c:a1e0:${randomBytes(10).toString("hex").match(/.{4}/g).join(":")}/128`]
  const node = {
    id: 1n,
    key: randomBytes(32),
    disco: `discokey:${randomBytes(32).toString("hex")}`,
    preferred_derp: 999,
    addresses,
    allowed_ips: addresses
  }
  const announcement = Either.getOrThrow(TailnetMessages.CoordinateRequest.encode({ update_self: { node } }))
  const method = Buffer.from("/coder.tailnet.v2.Tailnet/Coordinate")
  const call = [
    { kind: Packet.Kind.Invoke, streamId: 1, messageId: 1, data: method },
    { kind: Packet.Kind.Message, streamId: 1, messageId: 2, data: announcement }
  ]
  return Buffer.concat([
    Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.SYN, streamId: 1, length: 0 }),
    Frame.encodeData(1, Buffer.concat(call.map(Packet.encode))),
    Frame.encode({ type: Frame.Type.Ping, flags: Frame.Flag.SYN, streamId: 0, length: 1 })
  ])
}

const openPeer = (port, token) =>
  new Promise((resolve, reject) => {
    const headers = { "Service-Session-Token": token }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v2/tailnet?version=2.3`, { headers, perMessageDeflate: false })
    socket.once("error", reject)
    socket.once("open", () => socket.send(asPeer()))
    socket.once("message", () => resolve(() => socket.terminate()))
  })

const openPeers = ({ port, token }, number) => openMany(() => openPeer(port, token), number)

/** The bytes that a peer takes in the coordinator, measured in a process of its own. */
const bytesPerPeer = async () => {
  const program = fileURLToPath(new URL("../peers.mjs", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program])
  return JSON.parse(stdout).bytesPerPeer
}

export const relay = {
  title: "the relay",
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    try {
      const { port } = deployment
      for (const pairs of [1, 10, 100]) {
        const small = await exchange(port, pairs, 100, seconds(4))
        const figure = { database: database.name }
        report.add({ ...figure, figure: `relayed packets of 100 bytes, ${pairs} pairs`, value: small.packets, unit: "/s" })
        const large = await exchange(port, pairs, 1400, seconds(4))
        report.add({ ...figure, figure: `relayed packets of 1,400 bytes, ${pairs} pairs`, value: large.bytes / 1e6, unit: "MB/s" })
      }
      const openClients = (number) => openMany(() => openClient(port), number)
      const closeClients = await openClients(atOnce)
      closeClients()
      const before = await deployment.ask("usage")
      const close = await openClients(idleClients)
      const after = await deployment.ask("usage")
      report.add({
        figure: "memory of an idle client of the relay",
        database: database.name,
        value: (after.memory.rss - before.memory.rss) / idleClients / 1024,
        unit: "KiB",
        target: { atMost: 40 }
      })
      close()
      report.add({
        figure: "memory of a coordinated peer",
        database: database.name,
        value: (await bytesPerPeer()) / 1024,
        unit: "KiB",
        target: { atMost: 20 }
      })
      const closeFirst = await openPeers(deployment, atOnce)
      closeFirst()
      const alone = await deployment.ask("usage")
      const closePeers = await openPeers(deployment, idlePeers)
      const together = await deployment.ask("usage")
      closePeers()
      report.add({
        figure: "memory of a peer with its connection",
        database: database.name,
        value: (together.memory.rss - alone.memory.rss) / idlePeers / 1024,
        unit: "KiB"
      })
    } finally {
      await deployment.stop()
    }
  }
}
