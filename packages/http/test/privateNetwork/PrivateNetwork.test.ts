import { Coordinator, Relay } from "@atelier/core/network"
import { Ids, Uuid } from "@atelier/core/platform"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { anApp } from "../../../../test/records/resources.js"
import { readAll } from "../../../../test/http/streams.js"
import { Flag, type Segment } from "../../../agent-protocol/src/tcp/Segment.js"
import { makeGuard } from "../../src/privateNetwork/Guard.js"
import { makeTunnels } from "../../src/privateNetwork/Tunnels.js"
import { type AgentServer, describeAgents, type RunningAgent } from "../agents/AgentServer.js"
import { opened } from "../apps/terminalSocket.js"
import { dialing } from "../network/linkedAgents.js"
import { startTwoServers } from "../network/twoServers.js"
import { goAgent, missing, scriptedAgent } from "./members.js"

const anAgent = (server: AgentServer) => server.anAgent({ apps: [anApp({ slug: "web", url: "http://localhost:8080" })] }, server.owner())

/** Visits the app of an agent as its owner. */
const visiting =
  (server: AgentServer, { owner, workspace }: RunningAgent, { token } = server.owner()) =>
  (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}/@${owner.username}/${workspace.name}.main/apps/web${path}`, {
      headers: { cookie: `service_session_token=${token}` },
      ...init
    })

const bytes = async (answer: Promise<Response>): Promise<Uint8Array> => new Uint8Array(await (await answer).arrayBuffer())

const digest = (some: Uint8Array): string => createHash("sha256").update(some).digest("hex")

describe.skipIf(missing !== undefined)(`through the private network${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  describeAgents("an agent", (server) => {
    it("offers its apps, its terminal and its ports", async () => {
      const agent = await anAgent(server())
      await goAgent(server(), agent)
      const visit = visiting(server(), agent)
      const page = await visit("/a/page")
      expect([page.status, await page.text()]).toStrictEqual([200, "<title>an app behind the private network</title>/a/page"])
      const body = randomBytes(1_000_000)
      expect(digest(await bytes(visit("/echo", { method: "POST", body })))).toBe(digest(body))

      const terminal = await opened(server(), agent.id, { reconnect: randomUUID(), height: "24", width: "90" })
      terminal.type({ data: "NAME=ann; stty size; echo hello-$NAME\r" })
      expect(await terminal.until(/hello-ann/)).toContain("24 90")
      terminal.type({ height: 30, width: 100, data: "stty size\r" })
      await terminal.until(/30 100/)
      terminal.type({ data: "exit\r" })
      expect(await terminal.closed).toStrictEqual([1000, ""])

      const ports = await fetch(`${server().url}/api/v2/workspaceagents/${agent.id}/listening-ports`, {
        headers: { "service-session-token": server().owner().token }
      })
      expect([ports.status, await ports.json()]).toStrictEqual([200, { ports: [{ process_name: "other", network: "tcp", port: 8081 }] }])
    })

    it("serves visits side by side over one tunnel, also after one was broken off", async () => {
      const agent = await anAgent(server())
      const { members } = await goAgent(server(), agent)
      const visit = visiting(server(), agent)
      const breaking = new AbortController()
      const endless = await visit("/bytes/1000000000", { signal: breaking.signal })
      const lengths = await Promise.all(Array.from({ length: 10 }, async () => (await bytes(visit("/bytes/300000"))).length))
      expect(lengths).toStrictEqual(Array.from({ length: 10 }, () => 300_000))
      breaking.abort()
      await expect(endless.text()).rejects.toThrow()
      expect((await bytes(visit("/bytes/300000"))).length).toBe(300_000)
      expect(members).toHaveLength(1)
    })

    it("is reached again when it has begun anew, and says which port nothing listens on", async () => {
      const agent = await anAgent(server())
      const before = await goAgent(server(), agent)
      const visit = visiting(server(), agent)
      expect((await visit("/")).status).toBe(200)
      const interrupted = await visit("/bytes/1000000000")
      before.kill()
      await before.vanish()
      const after = await goAgent(server(), agent)
      await expect(interrupted.arrayBuffer()).rejects.toThrow()
      expect((await visit("/")).status).toBe(200)
      const refusal = Effect.flip(Effect.scoped(dialing(server(), agent, 8082)))
      expect((await Effect.runPromise(refusal)).message).toBe("No program listens on this port of the workspace.")
      expect(after.members).toStrictEqual(before.members)
    })
  })

  it("an agent is reached by a server that it is not connected to", async () => {
    const { close, far, loseFar, near } = await startTwoServers()
    const agent = await anAgent(near)
    const { kill } = await goAgent(far, agent)
    const visit = visiting(near, agent)
    // The servers learn of each other, and of the agent, one after the other
    await expect.poll(async () => (await visit("/")).status, { interval: 100 }).toBe(200)
    expect((await bytes(visit("/bytes/300000"))).length).toBe(300_000)
    kill()
    await loseFar()
    await close()
  })
})

describeAgents("an agent that the server does not trust", (server) => {
  /** A stream that is being opened to an agent, and the segments with which that answers. */
  const aStream = async () => {
    const agent = await anAgent(server())
    const member = await scriptedAgent(server(), agent)
    const reading = Effect.runFork(Effect.either(Effect.scoped(Effect.flatMap(dialing(server(), agent, 8080), readAll))))
    const opening = await member.segment()
    const answer: Segment = {
      sourcePort: opening.destinationPort,
      destinationPort: opening.sourcePort,
      sequence: 1000,
      acknowledgment: (opening.sequence + 1) >>> 0,
      flags: Flag.ack,
      window: 1000,
      data: new Uint8Array(0)
    }
    return { agent, member, answer, result: () => Effect.runPromise(Fiber.join(reading)) }
  }

  it("ends no stream with packets that are broken, copied or strange", async () => {
    const { answer, member, result } = await aStream()
    const text = Buffer.from("hello")
    member.reply({ ...answer, flags: Flag.syn | Flag.ack, maximumSegment: 0, windowScale: 255 })
    await member.segment()
    for (const message of member.sent.slice()) {
      member.throwAt(message)
      for (let at = 0; at < message.length; at += 3) {
        const damaged = message.slice()
        damaged[at] = (damaged[at] ?? 0) ^ 0xff
        member.throwAt(damaged)
        member.throwAt(message.subarray(0, at))
      }
    }
    for (let count = 0; count < 300; count++) {
      member.throwAt(randomBytes(count))
      member.send(randomBytes(count))
      member.reply({
        ...answer,
        sequence: 2 ** 30 + count * 7919,
        acknowledgment: count * 104_729,
        flags: count & 0x3b,
        data: randomBytes(count)
      })
      member.reply({ ...answer, destinationPort: count, data: text })
    }
    member.reply({ ...answer, sequence: 1001, flags: Flag.ack | Flag.fin, data: text })
    expect(await result()).toMatchObject({ _tag: "Right", right: text })
  })

  it("is told of the server only while that needs it", async () => {
    const { agent, answer, member, result } = await aStream()
    member.reply({ ...answer, sequence: 0, flags: Flag.rst | Flag.ack })
    await result()
    server().advance("6 minutes")
    await expect.poll(() => member.left, { interval: 20 }).toStrictEqual(member.members)
    const again = Effect.runFork(Effect.either(Effect.scoped(dialing(server(), agent, 8080))))
    const opening = await member.segment()
    member.reply({ ...answer, destinationPort: opening.sourcePort, acknowledgment: opening.sequence + 1, flags: Flag.rst | Flag.ack })
    await Effect.runPromise(Fiber.join(again))
    expect(new Set(member.members).size).toBe(2)
  })

  it("takes the place of the tunnel that has been idle for longest", async () => {
    const { context } = await server().atelier.runtime.runtime()
    let time = 0
    const surroundings = {
      coordinator: Context.get(context, Coordinator),
      ids: Context.get(context, Ids),
      router: Context.get(context, Relay).router,
      region: 999,
      guard: makeGuard(),
      flushRelay: () => undefined,
      now: () => ++time,
      wallClock: Date.now
    }
    const ended = Effect.gen(function* () {
      const tunnels = yield* makeTunnels(surroundings, { maximum: 3, began: () => undefined })
      const take = Effect.suspend(() => tunnels.take(Uuid.Uuid.make(randomUUID())))
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      const [one, other] = [yield* Scope.extend(take, first), yield* Scope.extend(take, second)]
      const used = yield* take
      yield* Scope.close(second, Exit.void)
      yield* Scope.close(first, Exit.void)
      const over = () => Effect.forEach([one, other, used], (tunnel) => Deferred.isDone(tunnel.over))
      yield* take
      const afterOne = yield* over()
      yield* take
      const refusal = yield* Effect.flip(take)
      return [afterOne, yield* over(), refusal.message]
    })
    expect(await server().run(Effect.scoped(ended))).toStrictEqual([
      [false, true, false],
      [true, true, false],
      "The service has streams to 3 agents of the private network, and may have them to no more."
    ])
  })

  it("ends its streams at once when it refuses or leaves", async () => {
    const refusing = await aStream()
    refusing.member.reply({ ...refusing.answer, sequence: 0, flags: Flag.rst | Flag.ack })
    expect(await refusing.result()).toMatchObject({ left: { message: "No program listens on this port of the workspace." } })
    const leaving = await aStream()
    leaving.member.leave()
    expect(await leaving.result()).toMatchObject({ left: { message: "The workspace's agent has left the private network." } })
  })
})
