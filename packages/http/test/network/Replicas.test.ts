/** The private network of a deployment that several processes serve. */
import { Postgres } from "@atelier/storage-postgres"
import { Uuid } from "@atelier/core/platform"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { databaseUrl } from "../../../../test/store/databases.js"
import { type AgentServer, startAgentServer } from "../agents/AgentServer.js"
import { agentNode, bytesOf, clientNode, coordinate, tunnelTo } from "./peers.js"

const scope = Effect.runSync(Scope.make())
let replicas: readonly [AgentServer, AgentServer]
beforeAll(async () => {
  const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
  const first = await startAgentServer(Postgres.layer({ url, maxConnections: 3 }), {})
  replicas = [first, await startAgentServer(Postgres.layer({ url, maxConnections: 3 }), { empty: true })]
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

it("ends a tunnel whose right ends at another process", async () => {
  const [first, second] = replicas
  const [owner, member] = [first.owner(), await first.aMember()]
  const { id, token, workspace } = await first.anAgent({}, owner)
  const share = (role: string) =>
    second.call("PATCH", `/workspaces/${workspace.id}/acl`, { token: owner.token, body: { user_roles: { [member.user.id]: role } } })
  expect((await share("use")).status).toBe(204)
  const [agents, clients] = [await second.connect(token), await first.join("/tailnet", member.token)]
  const [agent, client] = [coordinate(agents), coordinate(clients)]
  agent.send(agentNode(id))
  client.send({ ...clientNode, ...tunnelTo(id) })
  expect(await client.next()).toStrictEqual([[id, "NODE", 999]])
  await agent.next()
  expect((await share("")).status).toBe(204)
  expect(await client.next()).toStrictEqual([[id, "DISCONNECTED"]])
  expect(await agent.next()).toMatchObject([[expect.anything(), "DISCONNECTED"]])
  for (const connection of [agents, clients]) await connection.close()
})

it("introduces a client to an agent of another process", async () => {
  const [first, second] = replicas
  const owner = first.owner()
  const { id, token } = await first.anAgent({}, owner)
  const [agents, clients] = [await second.connect(token), await first.join("/tailnet", owner.token)]
  const [agent, client] = [coordinate(agents), coordinate(clients)]
  agent.send(agentNode(id))
  client.send({ ...clientNode, ...tunnelTo(id) })
  expect(await client.next()).toStrictEqual([[id, "NODE", 999]])
  const [introduction] = await agent.next()
  const clientId = Uuid.Uuid.make(String(introduction?.[0]))

  agent.send({ ...agentNode(id, 4), ready_for_handshake: [{ id: bytesOf(clientId) }] })
  expect([await client.next(), await client.next()]).toStrictEqual([[[id, "NODE", 4]], [[id, "READY_FOR_HANDSHAKE"]]])

  await second.atelier.dispose()
  expect(await client.next()).toStrictEqual([[id, "LOST"]])
  const back = await first.connect(token)
  const returned = coordinate(back)
  returned.send(agentNode(id, 5))
  expect(await client.next()).toStrictEqual([[id, "NODE", 5]])
  expect(await returned.next()).toStrictEqual([[clientId, "NODE", 999]])
  for (const connection of [agents, clients, back]) await connection.close()
  for (const { close } of replicas) await close()
})
