/** Agents that are connected to another process of the deployment than the one that is asked for them. */
import { ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { AgentLinkRepository, AgentLinks, AgentUnreachable, full, machinePort, maximumStreams, unable } from "@atelier/core/network"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Exit, Option, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import { WebSocket } from "ws"
import { databaseUrl } from "../../../../test/store/databases.js"
import { Passes } from "../../src/replicas/Passes.js"
import { type AgentServer, type RunningAgent, startAgentServer } from "../agents/AgentServer.js"
import { address } from "./address.js"
import { readAll } from "../../../../test/http/streams.js"
import { dialing, echoed, link, program } from "./linkedAgents.js"

const scope = Effect.runSync(Scope.make())
let near: AgentServer
let far: AgentServer
let way: Awaited<ReturnType<typeof address>>
beforeAll(async () => {
  const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
  way = await address()
  near = await startAgentServer(Postgres.layer({ url, maxConnections: 3 }), {})
  far = await startAgentServer(Postgres.layer({ url, maxConnections: 3 }), { empty: true, options: { derpServerRelayUrl: way.url } })
  way.leadTo(far)
})
afterAll(async () => {
  way.close()
  await Promise.all([near.close(), far.close()])
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** An agent that is connected to the far server, and known there to the near one. */
const farAgent = async () => {
  const agent = await near.anAgent({}, near.owner())
  const connection = await link(far, agent)
  return { agent, connection }
}

it("carries bytes through the process that has the agent, and back", async () => {
  const { agent } = await farAgent()
  const port = await program((socket) => void socket.pipe(socket))
  const sent = Buffer.alloc(3_000_000, "atelier")
  expect((await echoed(near, agent, port, sent)).equals(sent)).toBe(true)
})

it("opens a terminal of an agent elsewhere", async () => {
  const { agent } = await farAgent()
  const query = new URLSearchParams({ reconnect: randomUUID(), command: "echo from $((20 + 22))" })
  const socket = new WebSocket(`${near.url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/pty?${query}`, {
    headers: { "service-session-token": near.owner().token }
  })
  let text = ""
  socket.on("message", (data: Buffer) => (text += data.toString()))
  const closed = new Promise<number>((resolve) => socket.on("close", resolve))
  await expect.poll(() => text).toContain("from 42")
  expect(await closed).toBe(1000)
})

it("waits for a reader that takes nothing, and for no other stream", async () => {
  const { agent } = await farAgent()
  let given = 0
  const endless = await program((socket) => {
    const push = (): void => {
      given += 65_536
      if (socket.write(Buffer.alloc(65_536))) setImmediate(push)
      else socket.once("drain", push)
    }
    push()
  })
  const large = Buffer.alloc(32 * 1024 * 1024, "atelier")
  const ending = await program((socket) => void socket.end(large))
  await Effect.gen(function* () {
    yield* dialing(near, agent, endless)
    const stream = yield* dialing(near, agent, ending)
    expect((yield* readAll(stream)).equals(large)).toBe(true)
    // What is on its way fits into the buffers in between
    expect(given).toBeLessThan(large.length)
  }).pipe(Effect.scoped, Effect.runPromise)
})

it("breaks a stream off when the other process or the agent is gone", async () => {
  const { agent, connection } = await farAgent()
  const silent = await program(() => undefined)
  const broken = (cut: () => unknown) =>
    Effect.gen(function* () {
      const stream = yield* dialing(near, agent, silent)
      yield* Effect.promise(async () => cut())
      return yield* Effect.flip(stream.read)
    }).pipe(Effect.scoped, Effect.runPromise)
  expect(await broken(way.cut)).toBeInstanceOf(AgentUnreachable)
  expect(await broken(connection.close)).toBeInstanceOf(AgentUnreachable)
  const refused = () => Effect.runPromise(Effect.flip(Effect.scoped(dialing(near, agent, silent))))
  await expect.poll(async () => (await refused()).message).toBe("The workspace's agent has no connection to the service.")
})

it("shares a connection among the streams to an agent", async () => {
  const { agent } = await farAgent()
  const port = await program((socket) => void socket.pipe(socket))
  await Effect.gen(function* () {
    yield* dialing(near, agent, port)
    const before = way.taken()
    const sent = Array.from({ length: 20 }, (_, at) => Buffer.alloc(100_000, `stream ${at} `))
    const back = yield* Effect.promise(() => Promise.all(sent.map((bytes) => echoed(near, agent, port, bytes))))
    expect(back.every((bytes, at) => bytes.equals(sent[at] ?? bytes.subarray(1)))).toBe(true)
    // The relays of the two processes share the address, and may connect during the test
    expect(way.taken() - before).toBeLessThanOrEqual(1)
  }).pipe(Effect.scoped, Effect.runPromise)
})

it("opens a stream where the connection that was kept has just ended", async () => {
  const { agent } = await farAgent()
  const port = await program((socket) => void socket.pipe(socket))
  const sent = Buffer.from("again")
  for (let time = 0; time < 3; time++) {
    expect((await echoed(near, agent, port, sent)).equals(sent)).toBe(true)
    way.cut()
  }
})

it("counts a stream until both directions have ended", async () => {
  const { agent } = await farAgent()
  const port = await program((socket) => void socket.pipe(socket))
  const open = () =>
    far.run(
      Effect.map(
        Effect.flatMap(AgentLinks, ({ linked }) => linked),
        (agents) => agents.find(({ agent_id }) => agent_id === agent.id)?.streams
      )
    )
  await Effect.gen(function* () {
    const stream = yield* dialing(near, agent, port)
    yield* stream.write(Buffer.from("x"))
    yield* stream.read
    expect(yield* Effect.promise(open)).toBe(1)
    yield* stream.finish
    expect(Option.isNone(yield* stream.read)).toBe(true)
    yield* Effect.promise(() => expect.poll(open).toBe(0))
  }).pipe(Effect.scoped, Effect.runPromise)
})

it("tells why an agent elsewhere takes no stream", async () => {
  const refusal = (agent: RunningAgent, port: number) => Effect.runPromise(Effect.flip(Effect.scoped(dialing(near, agent, port))))
  const old = await near.anAgent({}, near.owner())
  await link(far, old, "?role=agent&streams=1")
  expect(await refusal(old, machinePort)).toMatchObject({ reason: "unable", message: unable.message })
  const { agent } = await farAgent()
  const closed = await program(() => undefined)
  expect(await refusal(agent, 1 + closed)).toMatchObject({ message: `No program listens on port ${1 + closed} of the workspace.` })
  const many = Effect.forEach(Array.from({ length: maximumStreams }), () => dialing(near, agent, closed), { concurrency: 16 })
  const beyond = Effect.flip(dialing(near, agent, closed))
  expect(await Effect.runPromise(Effect.scoped(Effect.zipRight(many, beyond)))).toMatchObject({ reason: "busy", message: full.message })
}, 60_000)

it("asks no process that has not told of itself for some time", async () => {
  const agent = await near.anAgent({}, near.owner())
  const put = (replica_id: Uuid.Uuid) =>
    near.run(
      Effect.flatMap(AgentLinkRepository, ({ put: tell }) =>
        tell([{ agent_id: agent.id, replica_id, connected_at: Timestamp.fromMillis(Date.now()) }])
      )
    )
  await put(Uuid.Uuid.make(randomUUID()))
  const { message } = await Effect.runPromise(Effect.flip(Effect.scoped(dialing(near, agent, 8080))))
  expect(message).toBe("The workspace's agent has no connection to the service.")
})

const idOf = (server: AgentServer) => server.run(Effect.map(Replicas, ({ id }) => id))

/** The status with which the far server answers a caller who shows this as a pass. */
const shown = (text: string | undefined): Promise<number | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${far.url.replace("http", "ws")}/internal/replicas/streams`, {
      headers: text === undefined ? {} : { authorization: `Replica ${text}` }
    })
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode))
    socket.on("open", () => {
      socket.close()
      resolve(101)
    })
    socket.on("error", () => undefined)
  })

it("takes a pass once, at the process it is for, while it is good", async () => {
  const { agent } = await farAgent()
  const pass = async (of: AgentServer, to: Uuid.Uuid) =>
    (
      await of.run(
        Effect.flatMap(Effect.flatten(Effect.serviceOption(Passes)), ({ issue }) => issue(to, agent.id, Uuid.Uuid.make(randomUUID())))
      )
    ).text
  const id = await idOf(far)
  const good = await pass(near, id)
  expect([await shown(good), await shown(good)]).toStrictEqual([101, 401])
  expect(await shown(await pass(near, await idOf(near)))).toBe(401)
  const forged = `${good.slice(0, -4)}AAAA`
  for (const text of [undefined, "", "x", "a.b", "a.b.c", forged, near.owner().token, "x".repeat(5_000)])
    expect(await shown(text)).toBe(401)
  const late = await pass(near, id)
  far.advance("2 minutes")
  expect(await shown(late)).toBe(401)
})

it("sends nothing to an address where another program answers", async () => {
  const agent = await near.anAgent({}, near.owner())
  const heard: Array<string> = []
  const impostor = await program((socket) => {
    socket.on("data", (bytes) => {
      heard.push(bytes.toString())
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    })
  })
  const replica_id = Uuid.Uuid.make(randomUUID())
  const now = await near.run(Timestamp.now)
  await near.store(
    Effect.gen(function* () {
      const { put } = yield* ReplicaRepository
      const row = { hostname: "impostor", region_id: 999, error: "", database_latency: 0 }
      yield* put({ ...row, id: replica_id, created_at: now, updated_at: now, relay_address: `http://127.0.0.1:${impostor}` })
      yield* Effect.flatMap(AgentLinkRepository, (links) => links.put([{ agent_id: agent.id, replica_id, connected_at: now }]))
    })
  )
  const { message } = await Effect.runPromise(Effect.flip(Effect.scoped(dialing(near, agent, 8080))))
  expect(message).toContain("cannot be reached")
  expect(heard.join("")).not.toMatch(/owner|session/i)
})
