import { createServer, type Server } from "node:http"
import { connect, Socket } from "node:net"
import { once } from "node:events"
import { afterEach, expect, it, vi } from "vitest"
import * as others from "../../../src/server/listener/otherListeners.js"

afterEach(() => void vi.useRealTimers())

/** A client that asks the server for another protocol. */
const upgradeAt = async (server: Server): Promise<Socket> => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  const client = connect(address !== null && typeof address === "object" ? address.port : 0, "127.0.0.1")
  client.on("error", () => undefined)
  client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
  return client
}

it("a connection that no other listener answers ends after 30 seconds", () => {
  vi.useFakeTimers()
  const [silent, answered] = [new Socket(), new Socket()]
  let written = 0
  Object.defineProperty(answered, "bytesWritten", { get: () => written })
  others.leave(silent)
  others.leave(answered)
  written = 100
  vi.advanceTimersByTime(29_999)
  expect([silent.destroyed, answered.destroyed]).toEqual([false, false])
  vi.advanceTimersByTime(1)
  expect([silent.destroyed, answered.destroyed]).toEqual([true, false])
})

it("a connection that an earlier listener has taken stays, however long it is silent", async () => {
  const server = createServer()
  const taken = new Promise<Socket>((resolve) => {
    server.on("upgrade", (_request, socket: Socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
      socket.on("data", () => undefined)
      vi.useFakeTimers()
      others.leave(socket)
      resolve(socket)
    })
  })
  const client = await upgradeAt(server)
  const socket = await taken
  vi.advanceTimersByTime(30_000)
  expect(socket.destroyed).toBe(false)
  client.destroy()
  server.close()
})

it("a client that resets a connection that was left to others does the process no harm", async () => {
  const server = createServer()
  const closed = new Promise<boolean>((resolve) => {
    server.on("upgrade", (_request, socket: Socket) => {
      others.leave(socket)
      socket.on("close", resolve)
      client.resetAndDestroy()
    })
  })
  const client = await upgradeAt(server)
  expect(await closed).toBe(true)
  server.close()
})

it("a connection of a server tells whether another listener takes upgrades", async () => {
  const server = createServer()
  const seen: Array<boolean> = []
  const look = (_request: unknown, socket: Socket): void => {
    seen.push(others.areOn(socket))
    socket.destroy()
  }
  server.on("upgrade", look).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  const ask = async (): Promise<void> => {
    const client = connect(
      port,
      "127.0.0.1",
      () => void client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
    )
    client.on("error", () => undefined)
    await once(client, "close")
  }
  await ask()
  server.on("upgrade", () => undefined)
  await ask()
  server.close()
  expect([...seen, others.areOn(new Socket())]).toEqual([false, true, false])
})
