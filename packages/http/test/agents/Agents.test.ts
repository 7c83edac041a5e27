import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { anApp } from "../../../../test/records/resources.js"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { describeAgentInterface, describeAgents } from "./AgentServer.js"

const unknown = "01020304-0506-0708-090a-0b0c0d0e0f10"

describeAgents("an agent", (server) => {
  const get = (id: string, token = server().owner().token) => server().call("GET", `/workspaceagents/${id}`, { token })

  it("is shown with everything that is derived from it", async () => {
    const { id, first, owner, workspace } = await server().anAgent({
      directory: "/home/dev",
      environment_variables: { KEY: "value" },
      scripts: [
        {
          display_name: "Startup Script",
          icon: "",
          script: "true",
          cron: "",
          start_blocks_login: true,
          run_on_start: true,
          run_on_stop: false,
          timeout_seconds: 5,
          log_path: "startup.log"
        }
      ],
      apps: [
        anApp({ slug: "web", display_name: "Web", subdomain: true, order: 2 }),
        anApp({ slug: "8080", subdomain: true, order: 1, healthcheck: { url: "http://localhost", interval: 5, threshold: 3 } })
      ]
    })
    const answer = await get(id)
    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual({
      id,
      parent_id: { uuid: "00000000-0000-0000-0000-000000000000", valid: false },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      status: "connecting",
      lifecycle_state: "created",
      name: "main",
      resource_id: expect.any(String),
      architecture: "amd64",
      environment_variables: { KEY: "value" },
      operating_system: "linux",
      logs_length: 0,
      logs_overflowed: false,
      directory: "/home/dev",
      version: "",
      api_version: "",
      apps: [
        {
          id: first.agents[0]?.apps[1]?.id,
          url: "http://localhost:8080",
          external: false,
          slug: "8080",
          subdomain: true,
          subdomain_name: `8080--main--${workspace.name}--${owner.username}`,
          sharing_level: "owner",
          healthcheck: { url: "http://localhost", interval: 5, threshold: 3 },
          health: "initializing",
          hidden: false,
          open_in: "slim-window",
          statuses: []
        },
        {
          id: first.agents[0]?.apps[0]?.id,
          url: "http://localhost:8080",
          external: false,
          slug: "web",
          display_name: "Web",
          subdomain: true,
          subdomain_name: `web--${workspace.name}--${owner.username}`,
          sharing_level: "owner",
          healthcheck: { url: "", interval: 0, threshold: 0 },
          health: "disabled",
          hidden: false,
          open_in: "slim-window",
          statuses: []
        }
      ],
      connection_timeout_seconds: 120,
      troubleshooting_url: "",
      subsystems: [],
      health: { healthy: false, reason: expect.any(String) },
      display_apps: ["vscode", "ssh_helper", "port_forwarding_helper", "web_terminal"],
      log_sources: [
        { id: expect.any(String), workspace_agent_id: id, created_at: expect.any(String), display_name: "Startup Script", icon: "" }
      ],
      scripts: [
        {
          id: expect.any(String),
          log_source_id: expect.any(String),
          log_path: "startup.log",
          script: "true",
          cron: "",
          run_on_start: true,
          run_on_stop: false,
          start_blocks_login: true,
          timeout: 5_000_000_000,
          display_name: "Startup Script"
        }
      ],
      startup_script_behavior: "blocking"
    })
  })

  it("times out when it never connects, unless it may take for ever", async () => {
    const [hasty, patient] = [
      await server().anAgent({ connection_timeout_seconds: 1 }),
      await server().anAgent({ connection_timeout_seconds: 0 })
    ]
    expect((await get(hasty.id)).body).toMatchObject({ status: "connecting", health: { healthy: false } })
    server().advance("2 seconds")
    expect((await get(hasty.id)).body).toMatchObject({ status: "timeout", health: { healthy: false } })
    expect((await get(patient.id)).body).toMatchObject({ status: "connecting" })
  })

  it("is unknown without a workspace that the caller may read", async () => {
    const agent = await server().anAgent()
    const stranger = await server().aMember()
    expect((await get(agent.id, stranger.token)).status).toBe(404)
    expect((await get(unknown)).status).toBe(404)
    expect((await get("main")).status).toBe(400)
    expect((await get("0")).status).toBe(400)
    expect((await server().call("GET", `/workspaceagents/${agent.id}`)).status).toBe(401)
  })

  it("is unknown once it, its workspace or its owner is deleted", async () => {
    const remove = (table: string, id: string) =>
      server().store(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET deleted = TRUE WHERE id = ${id}`))
    const [first, second] = [await server().anAgent(), await server().anAgent()]
    const third = await server().anAgent({}, await server().aMember())
    await remove("workspace_agents", first.id)
    await remove("workspaces", second.workspace.id)
    await remove("users", third.owner.id)
    for (const { id } of [first, second, third]) expect((await get(id)).status).toBe(404)
  })

  it("stays visible while a newer build waits", async () => {
    const agent = await server().anAgent()
    await server().store(aBuild(agent, { status: "pending" }))
    expect((await get(agent.id)).status).toBe(200)
  })
})

describeAgentInterface(
  "in the reference's dialect an agent",
  (server) => {
    it("has no parent where it is no sub agent", async () => {
      const { id } = await server().anAgent()
      const { body } = await server().call("GET", `/workspaceagents/${id}`, { token: server().owner().token })
      expect(body).toMatchObject({ parent_id: null })
    })

    it("gets empty answers to reports, and 201 for its log source", async () => {
      const { token } = await server().anAgent()
      const logs = await server().call("PATCH", "/workspaceagents/me/logs", { token, body: { logs: [{ output: "x" }] } })
      expect([logs.status, logs.body]).toStrictEqual([200, null])
      const source = await server().call("POST", "/workspaceagents/me/log-source", {
        token,
        body: { id: "01020304-0506-0708-090a-0b0c0d0e0f10", display_name: "x", icon: "" }
      })
      expect(source.status).toBe(201)
    })
  },
  { compatibility: "coder" }
)
