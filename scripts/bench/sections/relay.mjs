// What the relay forwards between pairs of clients, and the memory that an idle client takes. The load is made by this process, so that both share
// the machine.
import { Relay } from "@atelier/agent-protocol"
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { startDeployment } from "../deployment.mjs"

const { Box, FrameReader, RelayFrame } = Relay
const { FrameType } = RelayFrame

const idleClients = 2000
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

const openMany = async (port, number) => {
  const clients = []
  for (let from = 0; from < number; from += atOnce) {
    clients.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, number - from) }, () => open(port)))))
  }
  return clients
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
      for (const { socket } of await openMany(port, atOnce)) socket.destroy()
      const before = await deployment.ask("usage")
      const clients = await openMany(port, idleClients)
      const after = await deployment.ask("usage")
      report.add({
        figure: "memory of an idle client of the relay",
        database: database.name,
        value: (after.memory.rss - before.memory.rss) / idleClients / 1024,
        unit: "KiB",
        target: { atMost: 40 }
      })
      for (const { socket } of clients) socket.destroy()
    } finally {
      await deployment.stop()
    }
  }
}
