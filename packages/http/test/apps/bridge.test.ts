/** Bytes of an app on an upgraded connection, in memory that is used again. */
import { Loans } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Duplex, type Readable } from "node:stream"
import { expect, it, onTestFinished } from "vitest"
import { bridge } from "../../src/apps/bridge.js"

/** The client's end of a bridge, and the service's end of the app's connection, which pushes what the app sends. */
const aBridge = async (): Promise<readonly [Socket, Readable]> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const client = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1")
  const accepted = await new Promise<Socket>((resolve) => server.once("connection", resolve))
  const app = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() })
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const taken = { head: Buffer.alloc(0), release: () => undefined, socket: accepted }
  const response = { status: 101, rawHeaders: [], body: app }
  const upgraded = { _tag: "Upgraded", response, protocol: "echo", socket: app, head: Buffer.alloc(0) } as const
  Effect.runFork(bridge(taken, {}, upgraded, new AbortController().signal))
  const [head] = await once(client, "data")
  expect(String(head)).toMatch(/^HTTP\/1.1 101 /)
  return [client, app]
}

it("gives lent memory back once its bytes have left, which are those that the client gets", async () => {
  const [client, app] = await aBridge()
  const got: Array<Buffer> = []
  client.on("data", (bytes: Buffer) => void got.push(bytes))
  const buffers = new Set<ArrayBufferLike>()
  const sent: Array<Buffer> = []
  for (let count = 0; count < 50; count++) {
    const slab = Loans.take()
    if (slab === undefined) return expect.unreachable()
    buffers.add(slab.buffer)
    const bytes = randomBytes(slab.length)
    slab.set(bytes)
    sent.push(bytes)
    Loans.lend(slab, slab.length)
    app.push(slab)
    await expect.poll(() => Buffer.concat(got).length, { interval: 1 }).toBe(bytes.length * (count + 1))
  }
  expect(Buffer.concat(got).equals(Buffer.concat(sent))).toBe(true)
  expect(buffers.size).toBeLessThan(10)
})

it("ends the client's connection with the app's", async () => {
  const [client, app] = await aBridge()
  client.resume()
  app.push(null)
  await once(client, "end")
})
