import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { IncomingMessage } from "node:http"
import { once } from "node:events"
import { afterEach, describe, expect, it, vi } from "vitest"
import { leave, make } from "../../../src/server/connection/Turns.js"

afterEach(() => vi.useRealTimers())

const limits = { places: 2, waitsFor: 10_000, keptFor: 5_000 }

/** Requests by their names, which are in `begun` once they have their turn. */
const setUp = () => {
  const turns = make(limits)
  const begun: Array<string> = []
  const requests = new Map<string, { readonly message: IncomingMessage; readonly socket: Socket }>()
  const request = (name: string, socket: Socket): void => {
    const message = new IncomingMessage(socket)
    requests.set(name, { message, socket })
    turns.enter(message, socket, () => void begun.push(name))
  }
  const left = (name: string): void => {
    const made = requests.get(name)
    if (made !== undefined) leave(made.message)
  }
  return { begun, left, request, turns }
}

/** Connections of a server, both ends. */
const connections = async (count: number) => {
  const accepted: Array<Socket> = []
  const server = createServer((socket) => void accepted.push(socket.on("error", () => undefined))).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const clients: Array<Socket> = []
  for (let index = 0; index < count; index++) {
    clients.push(connect(port, "127.0.0.1"))
    await vi.waitUntil(() => accepted.length === index + 1)
  }
  const close = (): void => {
    for (const socket of [...clients, ...accepted]) socket.destroy()
    server.close()
  }
  return { accepted, clients, close }
}

/** Several turns of the event loop. */
const turnsOfLoop = async (): Promise<void> => {
  for (let count = 0; count < 10; count++) await new Promise((resolve) => setImmediate(resolve))
}

const names = ["a", "b", "c", "d"]

describe("requests that are answered in turn", () => {
  it("have their turns in the order in which they came", async () => {
    const { accepted, close } = await connections(4)
    const { begun, left, request } = setUp()
    for (const [index, socket] of accepted.entries()) request(names[index] ?? "", socket)
    await turnsOfLoop()
    expect(begun).toStrictEqual(["a", "b"])
    left("b")
    await turnsOfLoop()
    expect(begun).toStrictEqual(["a", "b", "c"])
    // It has no place to give any more
    left("b")
    await turnsOfLoop()
    expect(begun).toStrictEqual(["a", "b", "c"])
    close()
  })

  it("leave their turns when their connections end, and wait no longer", async () => {
    const { accepted, close } = await connections(4)
    const { begun, request } = setUp()
    for (const [index, socket] of accepted.entries()) request(names[index] ?? "", socket)
    await turnsOfLoop()
    accepted[2]?.destroy()
    accepted[0]?.destroy()
    await vi.waitUntil(() => begun.length === 3)
    expect(begun).toStrictEqual(["a", "b", "d"])
    close()
  })

  it("keep others out for five seconds at most", async () => {
    const { accepted, close } = await connections(4)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const { begun, request } = setUp()
    for (const [index, socket] of accepted.entries()) request(names[index] ?? "", socket)
    await turnsOfLoop()
    vi.advanceTimersByTime(4_999)
    await turnsOfLoop()
    expect(begun).toStrictEqual(["a", "b"])
    vi.advanceTimersByTime(1)
    await turnsOfLoop()
    expect(begun).toStrictEqual(names)
    close()
  })

  it("are refused after ten seconds without one", async () => {
    const { accepted, clients, close } = await connections(3)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const turns = make({ ...limits, keptFor: 60_000 })
    for (const socket of accepted) turns.enter(new IncomingMessage(socket), socket, () => undefined)
    await turnsOfLoop()
    vi.advanceTimersByTime(10_000)
    vi.useRealTimers()
    const answer = await new Promise((resolve) => clients[2]?.once("data", resolve))
    expect(String(answer)).toMatch(
      /^HTTP\/1\.1 503 Service Unavailable\r\nRetry-After: 5\r\n[^]*\r\n\r\n\{"message":"Too many agents connect at the same time\."\}$/
    )
    close()
  })

  it("let the event loop take other work between their beginnings", async () => {
    const { accepted, close } = await connections(4)
    const seen: Array<string> = []
    const turns = make({ ...limits, places: 1 })
    for (const [index, socket] of accepted.entries()) {
      const message = new IncomingMessage(socket)
      turns.enter(message, socket, () => {
        seen.push(names[index] ?? "")
        setImmediate(() => seen.push("other"))
        leave(message)
      })
    }
    await turnsOfLoop()
    expect(seen).toStrictEqual(["a", "other", "b", "other", "c", "other", "d", "other"])
    close()
  })

  it("all begin when the service ends", async () => {
    const { accepted, close } = await connections(4)
    const { begun, request, turns } = setUp()
    for (const [index, socket] of accepted.entries()) request(names[index] ?? "", socket)
    turns.end()
    expect(begun).toStrictEqual(names)
    close()
  })
})
