import { BuildResources } from "@atelier/core/agents"
import { GitSshKeyRepository } from "@atelier/core/identity"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { aBuild, moveBuild } from "../../../../../test/records/agentWorkspaces.js"
import { describeAgentInterface, describeAgents } from "../AgentServer.js"

describeAgentInterface("an agent's token", (server) => {
  const key = async (token: string): Promise<number> => (await server().call("GET", "/workspaceagents/me/gitsshkey", { token })).status

  it("gives the owner's key pair to the agent of the latest build", async () => {
    const agent = await server().anAgent()
    const answer = await server().call("GET", "/workspaceagents/me/gitsshkey", { token: agent.token })
    const pair = await server().store(Effect.flatMap(GitSshKeyRepository, (keys) => Effect.flatten(keys.pairOf(agent.owner.id))))
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ public_key: pair.public_key, private_key: expect.stringContaining("PRIVATE KEY") })
    await server().store(moveBuild(agent.first, "failed"))
    expect(await key(agent.token)).toBe(200)
  })

  it("works where a session token may stand, and not as access_token", async () => {
    const { token } = await server().anAgent()
    const { url } = server()
    const path = `${url}/api/v2/workspaceagents/me/gitsshkey`
    const statuses = await Promise.all([
      fetch(path, { headers: { Authorization: `Bearer ${token}` } }),
      fetch(path, { headers: { cookie: `service_session_token=${token}` } }),
      fetch(`${path}?service_session_token=${token}`),
      fetch(`${path}?access_token=${token}`)
    ])
    expect(statuses.map(({ status }) => status)).toStrictEqual([200, 200, 200, 401])
  })

  it("stops working when a newer start begins", async () => {
    const agent = await server().anAgent()
    await server().store(aBuild(agent, { status: "pending" }))
    expect(await key(agent.token)).toBe(401)
  })

  it.each([
    ["pending", 200],
    ["running", 200],
    ["canceling", 401],
    ["succeeded", 401],
    ["failed", 401]
  ] as const)("while a stop is %s answers %i", async (status, expected) => {
    const agent = await server().anAgent()
    const stop = await server().store(aBuild(agent, { transition: "stop", status: "pending" }))
    await server().store(moveBuild(stop, status))
    expect(await key(agent.token)).toBe(expected)
  })

  it("does not survive a stop of a start that failed, nor one build more", async () => {
    const failed = await server().anAgent()
    await server().store(moveBuild(failed.first, "failed"))
    await server().store(aBuild(failed, { transition: "stop", status: "pending" }))
    expect(await key(failed.token)).toBe(401)
    const stopped = await server().anAgent()
    await server().store(aBuild(stopped, { transition: "stop", status: "succeeded" }))
    await server().store(aBuild(stopped, { transition: "stop", status: "pending" }))
    expect(await key(stopped.token)).toBe(401)
  })

  it("does not survive its agent or its workspace", async () => {
    const retired = await server().anAgent()
    await server().store(Effect.flatMap(BuildResources, (resources) => resources.retireAllAgents(retired.workspace.id)))
    expect(await key(retired.token)).toBe(401)
    const deleted = await server().anAgent()
    await server().store(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE workspaces SET deleted = TRUE WHERE id = ${deleted.workspace.id}`)
    )
    expect(await key(deleted.token)).toBe(401)
  })

  it("works for a suspended owner's agent", async () => {
    const owner = await server().aMember()
    const agent = await server().anAgent({}, owner)
    await server().store(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE users SET status = 'suspended' WHERE id = ${owner.user.id}`)
    )
    const logs = { logs: [{ output: "still here" }] }
    expect((await server().call("PATCH", "/workspaceagents/me/logs", { token: agent.token, body: logs })).status).toBe(200)
  })

  it("has to be a token that is known", async () => {
    const anonymous = await server().call("GET", "/workspaceagents/me/gitsshkey")
    expect(anonymous.status).toBe(401)
    expect(await key("not-a-uuid")).toBe(401)
    expect(await key("01020304-0506-0708-090a-0b0c0d0e0f10")).toBe(401)
    expect(await key(server().owner().token)).toBe(401)
  })

  it("does not reach the owner's data without the scope for it", async () => {
    const agent = await server().anAgent({ api_key_scope: "no_user_data" })
    expect(await key(agent.token)).toBe(403)
    const logs = { logs: [{ output: "allowed" }] }
    expect((await server().call("PATCH", "/workspaceagents/me/logs", { token: agent.token, body: logs })).status).toBe(200)
  })

  it("opens the stream of claims before there is one", async () => {
    const agent = await server().anAgent()
    // Sooner than the first sign of life
    const response = await fetch(`${server().url}/api/v2/workspaceagents/me/reinit`, {
      headers: { "Service-Session-Token": agent.token },
      signal: AbortSignal.timeout(10_000)
    })
    expect([response.status, response.headers.get("content-type")]).toStrictEqual([200, "text/event-stream"])
    await response.body?.cancel()
  })

  it("is not accepted where agents are looked at from outside", async () => {
    const agent = await server().anAgent()
    expect((await server().call("GET", `/workspaceagents/${agent.id}`, { token: agent.token })).status).toBe(401)
  })
})

describeAgents("an agent that waits for a claim", (server) => {
  it("learns that the workspace is not a claimed prebuilt workspace", async () => {
    const agent = await server().anAgent()
    const ask = (token: string, query: string) => server().call("GET", `/workspaceagents/me/reinit${query}`, { token })
    const { body, status } = await ask(agent.token, "?wait=true")
    expect([status, body]).toMatchObject([409, { message: "The workspace is not a claimed prebuilt workspace." }])
    expect((await ask(server().owner().token, "")).status).toBe(401)
  })
})
