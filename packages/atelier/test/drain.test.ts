import { mkdtemp, rm } from "node:fs/promises"
import { Agent, get, type IncomingMessage } from "node:http"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { freePort, Server } from "./Server.js"

let directory: string
let server: Server

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-drain-"))
  server = await Server.start({
    port: await freePort(),
    database: `sqlite:${join(directory, "atelier.db")}`,
    workspacesDirectory: join(directory, "workspaces"),
    args: ["--drain-grace", "2s"]
  })
})

afterAll(async () => {
  await server.kill()
  await rm(directory, { recursive: true, force: true })
})

const ask = async (path: string, agent: Agent) => {
  const [response] = (await once(get(`${server.url}${path}`, { agent }), "response")) as [IncomingMessage]
  return { status: response.statusCode, connection: response.headers.connection, body: await text(response) }
}

it("a draining server answers every request that was sent", async () => {
  const connections = 24
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const all = (path: string) => Promise.all(Array.from({ length: connections }, () => ask(path, agent)))
  const before = await all("/api/v2/buildinfo")
  expect(before.map(({ connection, status }) => [status, connection])).toEqual(before.map(() => [200, "keep-alive"]))
  expect(await ask("/readyz", agent)).toMatchObject({ status: 200, body: "OK" })

  const sent = all("/api/v2/buildinfo")
  const exited = server.stop()
  expect((await sent).map(({ status }) => status)).toEqual(before.map(() => 200))
  const told = async (): Promise<Awaited<ReturnType<typeof ask>>> => {
    const answer = await ask("/readyz", agent)
    return answer.status === 200 ? told() : answer
  }
  expect(await told()).toMatchObject({ status: 503, connection: "close" })
  const during = await all("/api/v2/buildinfo")
  expect(during.map(({ connection, status }) => [status, connection])).toEqual(before.map(() => [200, "close"]))
  expect(await exited).toBe(0)
})
