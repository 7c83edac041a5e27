/** Connections to the service that a workspace proxy keeps. */
import { Agent, createServer, type Server, type ServerResponse } from "node:http"
import { expect, it, onTestFinished } from "vitest"
import { passOn } from "../../src/proxy/passOn.js"
import { SilentConnections } from "../../src/proxy/SilentConnections.js"

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

it("a kept connection is closed on suspicion, unless it carries a request again", async () => {
  const asked: Array<ServerResponse> = []
  let whenAsked: () => void = () => undefined
  const untilAsked = async (count: number): Promise<void> => {
    while (asked.length < count) await new Promise<void>((resolve) => (whenAsked = resolve))
  }
  const service = createServer((_request, response) => {
    asked.push(response)
    whenAsked()
  })
  const closed = new Promise<void>((resolve) => service.on("connection", (socket) => socket.once("close", () => resolve())))
  const connections = new SilentConnections(6_000)
  // The second request waits for the connection of the first
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const url = new URL(`http://127.0.0.1:${await listening(service)}`)
  let arrived = 0
  let bothArrived: () => void = () => undefined
  const both = new Promise<void>((resolve) => (bothArrived = resolve))
  const proxy = createServer((request, response) => {
    passOn({ url, connections, agent, dropped: new Set() }, request, response, [], (error) => response.destroy(error))
    arrived += 1
    if (arrived === 2) bothArrived()
  })
  const address = `http://127.0.0.1:${await listening(proxy)}`
  const texts = ["/first", "/second"].map(async (path) => (await fetch(`${address}${path}`)).text())
  await Promise.all([both, untilAsked(1)])
  asked[0]?.end("answer")
  await untilAsked(2)
  connections.suspect()
  asked[1]?.end("answer")
  expect(await Promise.all(texts)).toEqual(["answer", "answer"])
  connections.suspect()
  await closed
})
