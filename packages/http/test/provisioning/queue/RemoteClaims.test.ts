/** A prebuilt workspace that a daemon of another program has built, and its claim. */
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { aVersion } from "../../../../../test/http/templates.js"
import { describeAgentInterface } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "../daemons/aDaemon.js"

const Identified = Schema.Struct({ id: Schema.String })

const agent = { id: "5f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a60", token: "6f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a61" }

/** What Terraform stores of a workspace with one agent. */
const state = new TextEncoder().encode(
  JSON.stringify({
    version: 4,
    resources: [
      { type: "coder_agent", name: "main", instances: [{ attributes: { ...agent, os: "linux" } }] },
      { type: "terraform_data", name: "machine", instances: [{ attributes: { id: "1" } }] }
    ]
  })
)

const resources = [
  {
    name: "machine",
    type: "terraform_data",
    agents: [{ name: "main", operating_system: "linux", architecture: "amd64", auth: { case: "token", value: agent.token } }]
  }
] as never

describeAgentInterface(
  "a daemon in another process",
  (server) => {
    it("is given the tokens of the agents of a workspace that is claimed, and no others", async () => {
      const { token } = server().owner()
      const daemon = await aDaemon(server().url, { [keyHeader]: await aKey(server(), "far", { site: "far" }) }, "&name=one&version=1.18")
      const version = await aVersion(server(), {}, { provisioner: "terraform", tags: { site: "far" } })
      const imported = await daemon.acquire()
      const presets = [{ name: "Pool", default: true, prebuild: { instances: 1 } }] as never
      const value = { start_resources: resources, presets }
      await Effect.runPromise(daemon.calls.CompleteJob({ job_id: imported.job_id, type: { case: "template_import", value } }))
      const template = await server().call("POST", "/organizations/default/templates", {
        token,
        body: { name: "pool", template_version_id: version.id }
      })

      const build = async () => {
        const { job_id, type } = await daemon.acquire()
        await Effect.runPromise(daemon.calls.CompleteJob({ job_id, type: { case: "workspace_build", value: { state, resources } } }))
        const metadata = type?.case === "workspace_build" ? type.value.metadata : undefined
        return [metadata?.prebuilt_workspace_build_stage, metadata?.workspace_transition, metadata?.running_agent_auth_tokens]
      }
      expect(await build()).toStrictEqual(["CREATE", "START", []])

      await server().call("PUT", "/prebuilds/settings", { token, body: { reconciliation_paused: true } })
      await server().store(
        Effect.asVoid(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE workspace_agents SET lifecycle_state = 'ready'`))
      )
      const claimed = await server().call("POST", "/users/me/workspaces", {
        token,
        body: { name: "claimed", template_id: template.as(Identified).id }
      })
      expect(claimed.status).toBe(201)
      expect(await build()).toStrictEqual(["CLAIM", "START", [{ agent_id: agent.id, token: agent.token }]])

      const { id } = claimed.as(Identified)
      expect((await server().call("POST", `/workspaces/${id}/builds`, { token, body: { transition: "start" } })).status).toBe(201)
      // Agents of a later start get tokens of their own
      expect(await build()).toStrictEqual(["NONE", "START", []])
      await daemon.close()
    })
  },
  { entitlements: { has: () => true }, options: { workspacePrebuildsReconciliationInterval: "200 millis" } }
)
