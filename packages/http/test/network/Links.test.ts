import { AgentUnreachable, maximumStreams, terminalPort } from "@atelier/core/network"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { readAll } from "../../../../test/http/streams.js"
import { describeAgents } from "../agents/AgentServer.js"
import { agentNode, coordinate } from "./peers.js"
import { dialing, echoed, link, program } from "./linkedAgents.js"

describeAgents("streams to agents", (server) => {
  it("carry bytes to a port of the workspace and back", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const port = await program((socket) => void socket.pipe(socket))
    const sent = Buffer.alloc(1_000_000, "atelier")
    expect((await echoed(server(), agent, port, sent)).equals(sent)).toBe(true)
  })

  it("are refused for an agent that offers none, or has gone", async () => {
    const agent = await server().anAgent()
    const refused = () => Effect.runPromise(Effect.flip(Effect.scoped(dialing(server(), agent, 80))))
    const other = await link(server(), agent, "?role=agent")
    expect(await refused()).toBeInstanceOf(AgentUnreachable)
    await other.close()
    const port = await program((socket) => void socket.end())
    const connection = await link(server(), agent)
    await Effect.runPromise(Effect.scoped(dialing(server(), agent, port)))
    await connection.close()
    await expect.poll(refused).toBeInstanceOf(AgentUnreachable)
  })

  it("are refused for an agent in the private network that has told no key", async () => {
    const agent = await server().anAgent()
    const connection = await server().connect(agent.token)
    const peer = coordinate(connection)
    peer.send(agentNode(agent.id))
    const refused = async (port: number) => (await Effect.runPromise(Effect.flip(Effect.scoped(dialing(server(), agent, port))))).message
    for (const port of [terminalPort, 8080]) {
      await expect.poll(() => refused(port)).toBe("The workspace's agent has told the private network no key by which it could be reached.")
    }
    peer.send({ disconnect: {} })
    await expect.poll(() => refused(8080)).toBe("The workspace's agent has no connection to the service.")
    await connection.close()
  })

  it("refuse a client of the private network at once when the agent is not in it", async () => {
    const owner = server().owner()
    const agent = await server().anAgent({}, owner)
    const path = `/workspaceagents/${agent.id}/coordinate?version=2.0`
    const linked = await link(server(), agent)
    expect(await server().socket(path, owner.token).refused).toMatchObject({
      status: 409,
      body: { message: "The workspace's agent is not in the private network, by which ssh, ping and port-forward reach agents." }
    })
    const stranger = await server().aMember()
    expect((await server().socket(path, stranger.token).refused).status).toBe(404)
    coordinate(linked).send(agentNode(agent.id))
    await expect
      .poll(() =>
        server()
          .join(path, owner.token)
          .then(
            () => "joined",
            () => "refused"
          )
      )
      .toBe("joined")
  })

  it("stall no other stream of the agent while they are not read, up to the limit", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    // Twice what a stream takes without a reader
    const unread = await program((socket) => void socket.write(Buffer.alloc(512 * 1024)))
    const greeting = await program((socket) => void socket.end("hello"))
    await Effect.gen(function* () {
      yield* Effect.replicateEffect(dialing(server(), agent, unread), maximumStreams - 1)
      const stream = yield* dialing(server(), agent, greeting)
      expect((yield* readAll(stream)).toString()).toBe("hello")
      const excess = yield* Effect.flip(dialing(server(), agent, greeting))
      expect(excess.message).toBe("The workspace's agent has 256 streams open, and may have no more.")
    }).pipe(Effect.scoped, Effect.runPromise)
    expect((await Effect.runPromise(Effect.scoped(Effect.flatMap(dialing(server(), agent, greeting), readAll)))).toString()).toBe("hello")
  })
})
