import { TailnetMessages, Uuid as ProtocolUuid } from "@atelier/agent-protocol"
import { addressesOf } from "@atelier/core/network"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect, Mailbox, Option, Schema, Stream } from "effect"
import { expect, it } from "vitest"
import type { Person } from "../../../../test/http/server.js"
import { type AgentConnection, describeAgents } from "../agents/AgentServer.js"
import { agentNode, bytesOf, clientNode, coordinate, nodeOf, tunnelTo } from "./peers.js"

/** What a client is told of an owner's workspaces. */
const updatesOf = ({ tailnet }: AgentConnection, workspace_owner_id: Uint8Array) => {
  const updates = Effect.runSync(Mailbox.make<TailnetMessages.WorkspaceUpdate>())
  Effect.runFork(Effect.ignore(Stream.runForEach(tailnet.WorkspaceUpdates({ workspace_owner_id }), (update) => updates.offer(update))))
  const text = (id: Uint8Array) => Option.getOrThrow(ProtocolUuid.fromBytes(id))
  const view = (workspaces: ReadonlyArray<TailnetMessages.Workspace>, agents: ReadonlyArray<TailnetMessages.Agent>) => ({
    workspaces: workspaces.map(({ id, name, status }) => [text(id), name, status]),
    agents: agents.map(({ id, workspace_id }) => [text(id), text(workspace_id)])
  })
  return {
    next: async () => {
      const update = await Effect.runPromise(updates.take)
      return {
        upserted: view(update.upserted_workspaces, update.upserted_agents),
        deleted: view(update.deleted_workspaces, update.deleted_agents)
      }
    }
  }
}

const Refused = Schema.Struct({ message: Schema.String })

describeAgents("the private network", (server) => {
  const anAgentPeer = async (owner: Person) => {
    const running = await server().anAgent({}, owner)
    const connection = await server().connect(running.token)
    return { ...running, connection, peer: coordinate(connection) }
  }

  const aClientPeer = async (path: string, { token }: Person) => {
    const connection = await server().join(path, token)
    return { connection, peer: coordinate(connection) }
  }

  const rpc = (id: string) => `/workspaceagents/${id}/coordinate?version=2.0&version=2.0`

  it("tells a client and an agent of each other's changes", async () => {
    const member = await server().aMember()
    const agent = await anAgentPeer(member)
    agent.peer.send(agentNode(agent.id))
    const client = await aClientPeer(rpc(agent.id), member)
    client.peer.send({ ...clientNode, ...tunnelTo(agent.id) })
    expect(await client.peer.next()).toStrictEqual([[agent.id, "NODE", 999]])
    const [[clientId] = []] = (await agent.peer.next()) as ReadonlyArray<ReadonlyArray<unknown>>

    agent.peer.send({ ready_for_handshake: [{ id: bytesOf(clientId as Uuid.Uuid) }] })
    expect(await client.peer.next()).toStrictEqual([[agent.id, "READY_FOR_HANDSHAKE"]])
    agent.peer.send(agentNode(agent.id, 5))
    expect(await client.peer.next()).toStrictEqual([[agent.id, "NODE", 5]])

    await agent.connection.close()
    expect(await client.peer.next()).toStrictEqual([[agent.id, "LOST"]])
    const back = await server().connect(agent.token)
    const returned = coordinate(back)
    returned.send(agentNode(agent.id, 7))
    expect(await client.peer.next()).toStrictEqual([[agent.id, "NODE", 7]])
    expect(await returned.next()).toStrictEqual([[clientId, "NODE", 999]])

    client.peer.send({ disconnect: {} })
    expect(await returned.next()).toStrictEqual([[clientId, "DISCONNECTED"]])
    await client.peer.over
    await back.close()
    await client.connection.close()
  })

  it("reaches every agent that the user may connect to, and no other", async () => {
    const [member, stranger] = [await server().aMember(), await server().aMember()]
    const [one, two, foreign] = [await anAgentPeer(member), await anAgentPeer(member), await anAgentPeer(stranger)]
    for (const { id, peer } of [one, two, foreign]) peer.send(agentNode(id))
    const client = await aClientPeer("/tailnet", member)
    client.peer.send(clientNode)
    for (const { id } of [one, two]) {
      client.peer.send(tunnelTo(id))
      expect(await client.peer.next()).toStrictEqual([[id, "NODE", 999]])
    }
    client.peer.send(tunnelTo(foreign.id))
    expect(await client.peer.next()).toBe("authorization: workspace agent not found or you do not have permission")
    await client.peer.over
    await one.peer.next()
    expect(await one.peer.next()).toMatchObject([[expect.anything(), "LOST"]])
    for (const { connection } of [one, two, foreign, client]) await connection.close()
  })

  it.each<readonly [string, TailnetMessages.CoordinateRequestInit, string]>([
    [
      "tunnels to another agent",
      tunnelTo("11111111-2222-4333-8444-555555555555" as Uuid.Uuid),
      "authorization: invalid agent id, expected "
    ],
    [
      "tunnels to what is no id",
      { add_tunnel: { id: Uint8Array.of(1, 2, 3) } },
      "authorization: parse add tunnel id: invalid UUID (got 3 bytes)"
    ],
    ["wide addresses", nodeOf(["fd7a:115c:a1e0::/64"]), "authorization: invalid address bits, expected 128, got 64"],
    ["addresses that are none", nodeOf(["10.0.0.1/128"]), "authorization: Addresses: invalid node address, got 10.0.0.1"],
    ["handshakes", { ready_for_handshake: [{ id: new Uint8Array(16) }] }, "authorization: clients may not send ready_for_handshake"]
  ])("refuses a client's %s, and ends its part", async (_, request, error) => {
    const owner = server().owner()
    const { id } = await server().anAgent({}, owner)
    const client = await aClientPeer(rpc(id), owner)
    client.peer.send(request)
    expect(await client.peer.next()).toContain(error)
    await client.peer.over
    await client.connection.close()
  })

  it("refuses an agent's tunnels and foreign addresses", async () => {
    const other = await server().anAgent()
    for (const [request, error] of [
      [tunnelTo(other.id), "authorization: agents cannot open tunnels"],
      [agentNode(other.id), "authorization: Addresses: invalid node address, got "]
    ] as const) {
      const agent = await anAgentPeer(server().owner())
      agent.peer.send({ ready_for_handshake: [{ id: bytesOf(other.id) }] })
      expect(await agent.peer.next()).toBe(`ready for handshake error: you do not share a tunnel with "${other.id}"`)
      agent.peer.send(request)
      expect(await agent.peer.next()).toContain(error)
      await agent.peer.over
      await agent.connection.close()
    }
  })

  it("lets a client come back as the same peer with its tunnels, and no other user", async () => {
    const member = await server().aMember()
    const agent = await anAgentPeer(member)
    agent.peer.send(agentNode(agent.id))
    const client = await aClientPeer("/tailnet", member)
    client.peer.send({ ...clientNode, ...tunnelTo(agent.id) })
    await client.peer.next()
    await agent.peer.next()
    const { refresh_in, token } = await Effect.runPromise(client.connection.tailnet.RefreshResumeToken({}))
    expect(refresh_in?.seconds).toBe(43_200)
    const resumed = await aClientPeer(`/tailnet?resume_token=${encodeURIComponent(token)}`, member)
    expect(await resumed.peer.next()).toStrictEqual([[agent.id, "NODE", 999]])
    expect(await client.peer.next()).toBe("peer ID overwritten by new connection")
    await client.peer.over

    const stranger = await server().aMember()
    for (const [text, { token: session }] of [
      [token, stranger],
      ["forged", member],
      [`${token.slice(0, -3)}AAA`, member]
    ] as const) {
      const refused = await server().socket(`/tailnet?resume_token=${encodeURIComponent(text)}`, session).refused
      expect(refused).toMatchObject({ status: 401, body: { message: "Invalid resume token", validations: [{ field: "resume_token" }] } })
    }
    for (const { connection } of [agent, client, resumed]) await connection.close()
  })

  it("ends a tunnel with the right to it", async () => {
    const [owner, member] = [server().owner(), await server().aMember()]
    const agent = await anAgentPeer(owner)
    agent.peer.send(agentNode(agent.id))
    const share = (role: string) =>
      server().call("PATCH", `/workspaces/${agent.workspace.id}/acl`, {
        token: owner.token,
        body: { user_roles: { [member.user.id]: role } }
      })
    expect((await share("use")).status).toBe(204)
    const client = await aClientPeer("/tailnet", member)
    client.peer.send({ ...clientNode, ...tunnelTo(agent.id) })
    expect(await client.peer.next()).toStrictEqual([[agent.id, "NODE", 999]])
    await agent.peer.next()
    const socket = server().socket(rpc(agent.id), member.token)
    await expect(socket.refused).rejects.toThrow("was opened")
    expect((await share("")).status).toBe(204)
    expect(await socket.closed).toBe(1008)
    expect(await client.peer.next()).toStrictEqual([[agent.id, "DISCONNECTED"]])
    expect(await agent.peer.next()).toMatchObject([[expect.anything(), "DISCONNECTED"]])
    for (const { connection } of [agent, client]) await connection.close()
  })

  it("is refused with an unknown version or without the right to the agent", async () => {
    const [owner, member] = [server().owner(), await server().aMember()]
    const { id } = await server().anAgent({}, owner)
    for (const path of [`/workspaceagents/${id}/coordinate`, "/tailnet?version=1.0", "/tailnet?version=2.99", "/tailnet?version=x"]) {
      const { body, status } = await server().socket(path, owner.token).refused
      expect([status, body]).toMatchObject([400, { message: "Unknown or unsupported API version", validations: [{ field: "version" }] }])
    }
    expect((await server().socket(rpc(id), member.token).refused).status).toBe(404)
    expect((await server().call("GET", `/workspaceagents/${id}/connection`, { token: member.token })).status).toBe(404)
    expect((await server().call("GET", "/tailnet", { token: member.token })).status).toBe(426)
    expect((await server().call("GET", "/tailnet")).as(Refused).message).not.toBe("")
  })

  it("tells a client of the workspaces that it may read, and of each difference", async () => {
    const [member, stranger] = [await server().aMember(), await server().aMember()]
    const one = await server().anAgent({}, member)
    const client = await server().join("/tailnet", member.token)
    const other = await server().join("/tailnet", stranger.token)
    const workspace_owner_id = bytesOf(member.user.id)
    const updates = updatesOf(client, workspace_owner_id)
    const outline = ({
      id,
      workspace
    }: {
      readonly id: Uuid.Uuid
      readonly workspace: { readonly id: Uuid.Uuid; readonly name: string }
    }) => ({
      workspaces: [[workspace.id, workspace.name, "RUNNING"]],
      agents: [[id, workspace.id]]
    })
    const nothing = { workspaces: [], agents: [] }
    expect(await updates.next()).toStrictEqual({ upserted: outline(one), deleted: nothing })
    const strangers = updatesOf(other, workspace_owner_id)
    expect(await strangers.next()).toStrictEqual({ upserted: nothing, deleted: nothing })

    const two = await server().anAgent({}, member)
    const agent = await server().connect(two.token)
    expect(await updates.next()).toStrictEqual({ upserted: outline(two), deleted: nothing })
    await server().store(Effect.flatMap(WorkspaceRepository, ({ markDeleted }) => markDeleted(two.workspace.id, Timestamp.fromMillis(0))))
    await agent.close()
    expect(await updates.next()).toStrictEqual({ upserted: nothing, deleted: outline(two) })
    expect(await Effect.runPromise(Stream.runCount(client.tailnet.WorkspaceUpdates({ workspace_owner_id: new Uint8Array(3) })))).toBe(0)
    for (const connection of [client, other]) await connection.close()
  })

  it("is shown to those who may read debugging information", async () => {
    const owner = server().owner()
    const agent = await anAgentPeer(owner)
    agent.peer.send(agentNode(agent.id))
    const client = await aClientPeer("/tailnet", owner)
    client.peer.send({ ...clientNode, ...tunnelTo(agent.id) })
    await client.peer.next()
    const peers = await server().call("GET", "/debug/coordinator", { token: owner.token })
    expect(peers.text).toContain(`${agent.id} · connected · ${addressesOf(agent.id)[0]}/128`)
    expect(peers.text).toContain(` · connected · fd7a:115c:a1e0::17/128 · → ${agent.id}`)
    expect((await server().call("GET", "/debug/tailnet", { token: owner.token })).text).toContain("0 in all")
    const { token } = await server().aMember()
    for (const path of ["/debug/coordinator", "/debug/tailnet"]) expect((await server().call("GET", path, { token })).status).toBe(403)
    for (const { connection } of [agent, client]) await connection.close()
  })

  it("is described to clients and agents by one relay map", async () => {
    const { token } = server().owner()
    const agent = await anAgentPeer(server().owner())
    const answers = [
      await server().call("GET", "/workspaceagents/connection", { token }),
      await server().call("GET", `/workspaceagents/${agent.id}/connection`, { token })
    ]
    const region = {
      EmbeddedRelay: true,
      RegionID: 999,
      RegionCode: "service",
      RegionName: "Embedded Relay",
      Nodes: [{ Name: "999b", RegionID: 999, HostName: "atelier.test", STUNPort: -1, DERPPort: 80, ForceHTTP: true }]
    }
    for (const { body, status } of answers) {
      expect([status, body]).toMatchObject([
        200,
        { derp_map: { Regions: { "999": region } }, derp_force_websockets: false, disable_direct_connections: false }
      ])
    }
    const socket = server().socket("/derp-map", token)
    expect(await socket.next()).toMatchObject({ Regions: { "999": region, "1000": { Nodes: [{ STUNOnly: true }] } } })
    socket.send("anything")
    expect(await socket.closed).toBe(1008)
    const map = await Effect.runPromise(Effect.flatten(Stream.runHead(agent.connection.tailnet.StreamDERPMaps({}))))
    expect(map.regions.get(999)).toMatchObject({ embedded_relay: true, nodes: [{ host_name: "atelier.test", force_http: true }] })
    const manifest = await Effect.runPromise(agent.connection.agent.GetManifest({}))
    expect(manifest.derp_map).toStrictEqual(map)
    await agent.connection.close()
  })
})

describeAgents(
  "the log of tunnels",
  (server) => {
    it("says who reached which agent, and who tried to", async () => {
      const [owner, member, stranger] = [server().owner(), await server().aMember(), await server().aMember()]
      const { id, workspace } = await server().anAgent({}, member)
      for (const { token } of [member, member, stranger]) {
        const connection = await server().join("/tailnet", token)
        const peer = coordinate(connection)
        peer.send({ ...tunnelTo(id), disconnect: {} })
        await peer.over
        await connection.close()
      }
      const Logs = Schema.Struct({ connection_logs: Schema.Array(Schema.Unknown), count: Schema.Number })
      const read = async () =>
        (await server().call("GET", "/connectionlog?limit=10&offset=0&q=type:tunnel", { token: owner.token })).as(Logs)
      await expect.poll(async () => (await read()).count).toBe(2)
      expect((await read()).connection_logs).toMatchObject([
        { workspace_id: workspace.id, web_info: { user: { id: stranger.user.id }, status_code: 403 } },
        { workspace_id: workspace.id, web_info: { user: { id: member.user.id }, status_code: 101 } }
      ])
    })
  },
  { entitlements: { has: () => true } }
)
