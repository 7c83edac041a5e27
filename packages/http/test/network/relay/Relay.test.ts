/** The relay beside what the recordings have: several transports and mounts, slow and hostile clients, the end of the service. */
import { Relay } from "@atelier/agent-protocol"
import { connect } from "node:net"
import { expect, it } from "vitest"
import { sqlite } from "../../../../../test/store/databases.js"
import { describeInterface, startServer } from "../../../../../test/http/server.js"
import { bytesOf, enter, framesUntilPong, rawPeer, type RelayPeer, upgradeHead, webSocketPeer } from "./RelayPeer.js"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const packetTo = ({ publicKey }: Relay.Box.KeyPair, packet: Uint8Array): Uint8Array =>
  RelayFrame.make(FrameType.SendPacket, publicKey, packet)

/** The packet that comes next. */
const received = async (peer: RelayPeer): Promise<string> => {
  const item = await peer.next()
  return item._tag === "frame" && item.type === FrameType.RecvPacket ? item.payload.slice(64) : item._tag
}

/** Ends connections, whose peers are told of it in turn. */
const leaveAll = (...peers: ReadonlyArray<RelayPeer>) => Promise.all(peers.map(({ leave }) => leave()))

describeInterface(
  "the relay",
  (server) => {
    it("forwards between WebSockets, and each frame is a message", async () => {
      const [a, b] = [await webSocketPeer(server().url), await webSocketPeer(server().url)]
      const keys = [await enter(a), await enter(b)] as const
      a.send(Buffer.concat([packetTo(keys[1], bytesOf("01")), packetTo(keys[1], bytesOf("0202"))]))
      expect([await b.next(), await b.next()]).toEqual([
        { _tag: "frame", type: FrameType.RecvPacket, payload: hex(keys[0].publicKey) + "01", messageBytes: 38 },
        { _tag: "frame", type: FrameType.RecvPacket, payload: hex(keys[0].publicKey) + "0202", messageBytes: 39 }
      ])
      await leaveAll(a, b)
    })

    it("keeps the order of packets that arrive together", async () => {
      const [a, b] = [await rawPeer(server().url, upgradeHead()), await rawPeer(server().url, upgradeHead())]
      await enter(a)
      const keys = await enter(b)
      const packets = Array.from({ length: 200 }, (_, index) => Uint8Array.of(index, 1, 2, 3))
      a.send(Buffer.concat(packets.map((packet) => packetTo(keys, packet))))
      for (const packet of packets) expect(await received(b)).toBe(hex(packet))
      await leaveAll(a, b)
    })

    it("drops the oldest packets of a client that does not read, and delays no other", async () => {
      const peers = [1, 2, 3].map(() => rawPeer(server().url, upgradeHead()))
      const [sender, slow, quick] = await Promise.all(peers)
      if (sender === undefined || slow === undefined || quick === undefined) throw new Error("not connected")
      await enter(sender)
      const [slowKeys, quickKeys] = [await enter(slow), await enter(quick)]
      slow.pause()
      const size = 16_000
      const count = 1_000
      for (let index = 0; index < count; index++) {
        const packet = new Uint8Array(size)
        new DataView(packet.buffer).setUint32(0, index)
        sender.send(packetTo(slowKeys, packet))
        if (index % 100 === 99) {
          sender.send(packetTo(quickKeys, Uint8Array.of(index % 256)))
          expect(await received(quick)).toBe(hex(Uint8Array.of(index % 256)))
        }
      }
      slow.resume()
      const indices: Array<number> = []
      // The newest is among those that waited
      while (indices.at(-1) !== count - 1) indices.push(parseInt((await received(slow)).slice(0, 8), 16))
      expect(indices.length).toBeLessThan(count)
      expect(indices).toEqual(indices.toSorted((a, b) => a - b))
      await leaveAll(sender, slow, quick)
    })

    it("ends clients that lie about themselves, and serves others", async () => {
      const one = await rawPeer(server().url, upgradeHead())
      await one.next()
      one.send(bytesOf("02ffffffff"))
      while ((await one.next())._tag !== "end");
      const other = await rawPeer(server().url, upgradeHead())
      await enter(other)
      expect(await framesUntilPong(other)).toEqual([])
      await leaveAll(one, other)
    })

    it("tells owners the traffic of connected peers", async () => {
      const [a, b] = [await rawPeer(server().url, upgradeHead()), await rawPeer(server().url, upgradeHead())]
      const keys = [await enter(a), await enter(b)] as const
      a.send(packetTo(keys[1], new Uint8Array(100)))
      await received(b)
      const answer = await server().call("GET", "/debug/derp/traffic", { token: server().owner().token })
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual(
        expect.arrayContaining([
          { key: `nodekey:${hex(keys[0].publicKey)}`, sent: 100, recv: 0 },
          { key: `nodekey:${hex(keys[1].publicKey)}`, sent: 0, recv: 100 }
        ])
      )
      const { token } = await server().aMember()
      expect((await server().call("GET", "/debug/derp/traffic", { token })).status).toBe(403)
      expect((await server().call("GET", "/debug/derp/traffic")).status).toBe(401)
      await leaveAll(a, b)
    })

    it("answers at the root and below the prefix of a mount", async () => {
      for (const path of ["/derp", "/inner/derp"]) {
        const peer = await rawPeer(server().url, upgradeHead(path))
        await enter(peer)
        await peer.leave()
        expect((await fetch(`${server().url}${path}/latency-check`)).status).toBe(200)
      }
    })
  },
  { accessUrl: "http://elsewhere.test/inner", basePath: "/inner" }
)

it("connections end with the service, WebSockets with 1012", async () => {
  const server = await startServer(sqlite, { empty: true })
  const [raw, webSocket] = [await rawPeer(server.url, upgradeHead()), await webSocketPeer(server.url)]
  await enter(raw)
  await enter(webSocket)
  const disposed = server.atelier.dispose()
  expect(await raw.next()).toEqual({ _tag: "end" })
  expect(await webSocket.next()).toEqual({ _tag: "closed", code: 1012 })
  await leaveAll(raw)
  await disposed
  await server.close()
})

it("a server whose relay is off does not have its paths", async () => {
  const server = await startServer(sqlite, { empty: true, options: { derpServerEnable: false } })
  expect((await fetch(`${server.url}/derp/latency-check`)).status).toBe(404)
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write([...upgradeHead(), "\r\n"].join("\r\n"))
  const answer = await new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString("latin1"))))
  expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
  await server.close()
})
