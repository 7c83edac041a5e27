import { SqlClient } from "@effect/sql"
import { type Dispatcher, notificationEvents, type OutgoingNotification } from "@atelier/core/notifications"
import { PrebuildRepository, WorkspaceRepository } from "@atelier/core/workspaces"
import { Context, Effect, Layer, Schema } from "effect"
import { beforeAll, expect, it, vi } from "vitest"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { testEngines, type TestTemplate } from "../../../../../test/outside/engine.js"
import type { Person } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { describeAgentsOn } from "../../agents/AgentServer.js"

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
  resources: [{ name: "machine", type: "terraform_data", agents: [{ name: "main" }] }],
  replaces: [
    { resource: "machine[0]", paths: ["image", "disk.0.size"] },
    { resource: "network", paths: [] }
  ]
}

const delivered: Array<OutgoingNotification> = []
const recording: Dispatcher = { method: "recording", dispatch: (message) => Effect.sync(() => void delivered.push(message)) }
const replaced = () => delivered.filter(({ template_id }) => template_id === notificationEvents.prebuiltResourceReplaced.id)

/** Runs between the reconciliation's reading of the pool and its actions. */
let afterReading = (): Promise<void> => Promise.resolve()

/** Runs between the checks of a creation and its transaction. */
let beforeStoring = (): Promise<void> => Promise.resolve()

const paused = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, PrebuildRepository)
    const existing = Effect.tap(repository.existing, () => Effect.promise(() => afterReading()))
    const workspaces = Context.get(context, WorkspaceRepository)
    const idByName: typeof workspaces.idByName = (...named) =>
      Effect.tap(workspaces.idByName(...named), () => Effect.promise(() => beforeStoring()))
    return Context.add(context, PrebuildRepository, { ...repository, existing }).pipe(
      Context.add(WorkspaceRepository, { ...workspaces, idByName })
    )
  })

const Workspaces = Schema.Struct({
  count: Schema.Number,
  workspaces: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      latest_build: Schema.Struct({ job: Schema.Struct({ status: Schema.String }), build_number: Schema.Number })
    })
  )
})
const Created = Schema.Struct({
  id: Schema.String,
  expires_at: Schema.String,
  latest_build: Schema.Struct({ build_number: Schema.Number })
})

const Claimed = Schema.Struct({ latest_build: Schema.Struct({ status: Schema.String, build_number: Schema.Number }) })

describeAgentsOn(
  [
    ["SQLite", paused(sqlite)],
    ["PostgreSQL", paused(postgres)]
  ],
  "prebuilt workspaces",
  (server) => {
    let templateId: string
    const owner = () => server().owner().token
    const prebuilt = async () => (await server().call("GET", `/workspaces?q=owner:prebuilds`, { token: owner() })).as(Workspaces)

    const pause = (reconciliation_paused: boolean) =>
      server().call("PUT", "/prebuilds/settings", { token: owner(), body: { reconciliation_paused } })

    /** Waits until the pool is full, and lets its agents be ready. */
    const fullPool = async () => {
      await vi.waitFor(
        async () => {
          const { count, workspaces } = await prebuilt()
          expect([count, workspaces.every(({ latest_build }) => latest_build.job.status === "succeeded")]).toStrictEqual([warm, true])
        },
        { timeout: 60_000 }
      )
      await server().store(
        Effect.asVoid(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE workspace_agents SET lifecycle_state = 'ready'`))
      )
    }

    const claim = (name: string) =>
      server().call("POST", "/users/me/workspaces", {
        token: owner(),
        body: { name, template_id: templateId, timeout_ms: 86_400_000, rich_parameter_values: [{ name: "size", value: "2" }] }
      })

    let administrator: Person

    beforeAll(async () => {
      delivered.length = 0
      administrator = await server().aMember({ rbac_roles: ["template-admin"] })
      templateId = (await aTemplate(server(), template)).id
    })

    it("are claimed by one creation each, and others make their own", async () => {
      await fullPool()
      await pause(true)
      const ready = new Set((await prebuilt()).workspaces.map(({ id }) => id))

      const counts = async (...names: ReadonlyArray<string>) => {
        const { text } = await server().call("GET", "/debug/metrics", { token: owner() })
        const lines = text.split("\n").filter((line) => line.includes('preset_name="Pool"'))
        return names.map((name) =>
          lines
            .find((line) => line.startsWith(`serviced_prebuilt_workspaces_${name}{`))
            ?.split(" ")
            .at(-1)
        )
      }
      expect(await counts("created_total", "claimed_total", "running", "eligible")).toStrictEqual([warm, 0, warm, warm].map(String))

      // Their keepers delete them, and neither set nor use them
      const [waiting = ""] = ready
      const changes = [
        ["PUT", "autoupdates", { automatic_updates: "always" }, 404],
        ["POST", "usage", {}, 403]
      ] as const
      for (const [method, action, body, status] of changes) {
        const path = `/workspaces/${waiting}/${action}`
        expect([action, (await server().call(method, path, { token: administrator.token, body })).status]).toStrictEqual([action, status])
        expect((await server().call(method, path, { token: owner(), body })).status).toBe(204)
      }
      const answers = await Promise.all(Array.from({ length: creations }, (_, index) => claim(`w-${index}`)))
      expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 201))
      const created = answers.map((answer) => answer.as(Created))
      const claimed = created.filter(({ latest_build }) => latest_build.build_number === 2)
      expect(new Set(claimed.map(({ id }) => id))).toStrictEqual(ready)
      expect(new Set(created.map(({ id }) => id)).size).toBe(creations)
      expect((await prebuilt()).count).toBe(0)

      // Other builds replace the same resources, and no message tells of it
      await vi.waitFor(() => expect(replaced()).toHaveLength(warm), { timeout: 60_000 })
      const [message] = replaced()
      expect(message?.user_id).toBe(administrator.user.id)
      expect(message?.payload.data).toMatchObject({ replacements: { "machine[0]": "image, disk.0.size", network: "" } })
      expect(message?.payload.labels).toMatchObject({ claimant: "owner", preset: "Pool", workspace_build_num: "2" })
      expect(message?.body).toContain("**machine\\[0\\]**: image, disk.0.size")

      // Values of the store are read anew after 15 seconds
      server().advance("16 seconds")
      const counted = ["created_total", "claimed_total", "failed_total", "desired", "running", "eligible", "preset_hard_limited"]
      expect(await counts(...counted)).toStrictEqual([warm, warm, 0, warm, 0, 0, 0].map(String))
      expect(Number((await counts("resource_replacements_total"))[0])).toBeGreaterThanOrEqual(warm)
      const { text } = await server().call("GET", "/debug/metrics", { token: owner() })
      expect(text).toContain("serviced_prebuilt_workspaces_reconciliation_paused 1\n")
      expect(text).toMatch(/serviced_prebuilt_workspaces_metrics_last_updated \d{10}\n/)
      expect(text).toContain("serviced_prebuilds_reconciliation_duration_seconds_count ")
    })

    it("stay in the pool if the user of a claim is deleted during the claim", async () => {
      await pause(false)
      await fullPool()
      await pause(true)
      const { id } = (await server().aMember()).user
      const before = (await prebuilt()).workspaces.map((workspace) => workspace.id)
      beforeStoring = async () => {
        beforeStoring = () => Promise.resolve()
        expect((await server().call("DELETE", `/users/${id}`, { token: owner() })).status).toBe(200)
      }
      const created = await server().call("POST", `/users/${id}/workspaces`, {
        token: owner(),
        body: { name: "for-nobody", template_id: templateId, rich_parameter_values: [{ name: "size", value: "2" }] }
      })
      expect(created.status).toBe(404)
      expect((await prebuilt()).workspaces.map((workspace) => workspace.id)).toStrictEqual(before)
    })

    it("stay with a user who claims one between the decision to delete it and the delete", async () => {
      await pause(false)
      await fullPool()
      const before = new Set((await prebuilt()).workspaces.map(({ id }) => id))
      const workspaceOf = async (id: string) => (await server().call("GET", `/workspaces/${id}`, { token: owner() })).as(Claimed)
      const claimed = new Promise<string>((resolve) => {
        afterReading = async () => {
          afterReading = () => Promise.resolve()
          const { id, latest_build } = (await claim("claimed-between")).as(Created)
          expect(latest_build.build_number).toBe(2)
          await vi.waitFor(async () => expect((await workspaceOf(id)).latest_build.status).toBe("running"), { timeout: 60_000 })
          resolve(id)
        }
      })
      // The next cycle replaces all workspaces of the pool
      await pause(true)
      await server().call("POST", `/templates/${templateId}/prebuilds/invalidate`, { token: owner() })
      await pause(false)
      const id = await claimed
      await vi.waitFor(async () => expect((await prebuilt()).workspaces.filter((one) => before.has(one.id))).toStrictEqual([]), {
        timeout: 60_000
      })
      await pause(true)
      expect((await workspaceOf(id)).latest_build).toStrictEqual({ build_number: 2, status: "running" })
    })
  },
  {
    entitlements: { has: () => true },
    provisioner: testEngines,
    dispatchers: [recording],
    options: { notificationsMethod: "recording", workspacePrebuildsReconciliationInterval: "200 millis" }
  }
)
