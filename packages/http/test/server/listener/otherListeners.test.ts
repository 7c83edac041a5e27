import { createServer } from "node:http"
import { connect, Socket } from "node:net"
import { once } from "node:events"
import { afterEach, expect, it, vi } from "vitest"
import * as others from "../../../src/server/listener/otherListeners.js"

afterEach(() => void vi.useRealTimers())

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
