/** Upgraded connections of apps: their bytes, in memory that is used again, and their end. */
import { Loans } from "@atelier/agent-protocol"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { expect, it, onTestFinished, vi } from "vitest"
import { bridge } from "../../src/apps/bridge.js"

/** The two ends that a bridge connects, the client's end of the first, and what begins the bridge. */
const sidesOfABridge = async () => {
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
  const ending = new AbortController()
  const over = vi.fn<() => void>()
  const begin = (): void => {
    const upgraded = { protocol: "echo", socket: app, head: Buffer.alloc(0) }
    bridge({ head: Buffer.alloc(0), socket: accepted }, {}, upgraded, ending.signal, over)
  }
  return { accepted, app, begin, client, ending, over }
}

/** A bridge whose client has been told of it. */
const aBridge = async () => {
  const { begin, ...sides } = await sidesOfABridge()
  begin()
  const [head] = await once(sides.client, "data")
  expect(String(head)).toMatch(/^HTTP\/1.1 101 /)
  return sides
}

it("gives lent memory back once its bytes have left, which are those that the client gets", async () => {
  const { app, client } = await aBridge()
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
  const { app, client } = await aBridge()
  client.resume()
  app.push(null)
  await once(client, "end")
})

it("ends both connections once its right has ended, and is over once", async () => {
  const { accepted, app, client, ending, over } = await aBridge()
  client.resume()
  expect(over).not.toHaveBeenCalled()
  ending.abort()
  await once(client, "close")
  expect([accepted.destroyed, app.destroyed]).toEqual([true, true])
  expect(over).toHaveBeenCalledTimes(1)
})

it("is over with the client", async () => {
  const { app, client, over } = await aBridge()
  client.destroy()
  await once(app, "close")
  expect(over).toHaveBeenCalledTimes(1)
})

it("is over at once if its app or its right is gone before it begins", async () => {
  const gone = await sidesOfABridge()
  gone.app.destroy()
  await once(gone.app, "close")
  const ended = await sidesOfABridge()
  ended.ending.abort()
  for (const { accepted, begin, over } of [gone, ended]) {
    begin()
    expect(over).toHaveBeenCalledTimes(1)
    expect(accepted.destroyed).toBe(true)
  }
})
