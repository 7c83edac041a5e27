import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { beforeAll, expect, it, vi } from "vitest"
import { testEngines, type TestTemplate } from "../../../../test/engine.js"
import { aTemplate } from "../../../../test/templates.js"
import { describeAgents } from "../agents/AgentServer.js"

const warm = 5
const creations = 20

const template: TestTemplate = {
  parameters: [{ name: "size", default_value: "1" }],
  presets: [
    {
      name: "Pool",
      description: "",
      icon: "",
      default: false,
      parameters: [{ name: "size", value: "2" }],
      desired_prebuild_instances: warm
    }
  ],
  resources: [{ name: "machine", type: "terraform_data", agents: [{ name: "main" }] }]
}

const Workspaces = Schema.Struct({
  count: Schema.Number,
  workspaces: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      latest_build: Schema.Struct({ job: Schema.Struct({ status: Schema.String }), build_number: Schema.Number })
    })
  )
})
const Created = Schema.Struct({ id: Schema.String, latest_build: Schema.Struct({ build_number: Schema.Number }) })

describeAgents(
  "prebuilt workspaces",
  (server) => {
    let templateId: string
    const owner = () => server().owner().token
    const prebuilt = async () => (await server().call("GET", `/workspaces?q=owner:prebuilds`, { token: owner() })).as(Workspaces)

    beforeAll(async () => {
      templateId = (await aTemplate(server(), template)).id
    })

    it("are claimed by one creation each, and others make their own", async () => {
      await vi.waitFor(
        async () => {
          const { count, workspaces } = await prebuilt()
          expect([count, workspaces.every(({ latest_build }) => latest_build.job.status === "succeeded")]).toStrictEqual([warm, true])
        },
        { timeout: 20_000 }
      )
      await server().call("PUT", "/prebuilds/settings", { token: owner(), body: { reconciliation_paused: true } })
      await server().store(
        Effect.asVoid(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE workspace_agents SET lifecycle_state = 'ready'`))
      )
      const ready = new Set((await prebuilt()).workspaces.map(({ id }) => id))
      const answers = await Promise.all(
        Array.from({ length: creations }, (_, index) =>
          server().call("POST", "/users/me/workspaces", {
            token: owner(),
            body: { name: `w-${index}`, template_id: templateId, rich_parameter_values: [{ name: "size", value: "2" }] }
          })
        )
      )
      expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 201))
      const created = answers.map((answer) => answer.as(Created))
      const claimed = created.filter(({ latest_build }) => latest_build.build_number === 2)
      expect(new Set(claimed.map(({ id }) => id))).toStrictEqual(ready)
      expect(new Set(created.map(({ id }) => id)).size).toBe(creations)
      expect((await prebuilt()).count).toBe(0)
    })
  },
  { entitlements: { has: () => true }, provisioner: testEngines, options: { workspacePrebuildsReconciliationInterval: "200 millis" } }
)
