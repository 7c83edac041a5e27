import { Agent } from "@atelier/agent"
import { PrebuildRepository } from "@atelier/core/workspaces"
import { Context, Effect, Fiber, Layer, Logger, LogLevel, Redacted, Schema } from "effect"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { lastingToken, testEngines, type TestTemplate } from "../../../../../test/outside/engine.js"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { aConfig } from "../../../../agent/test/TestServer.js"
import { describeAgentsOn } from "../../agents/AgentServer.js"

const pool = 2

const template: TestTemplate = {
  parameters: [{ name: "size", default_value: "1" }],
  presets: [
    {
      name: "Pool",
      description: "",
      icon: "",
      default: false,
      parameters: [{ name: "size", value: "2" }],
      desired_prebuild_instances: pool
    }
  ],
  hands_over: true,
  resources: [
    {
      name: "machine",
      type: "terraform_data",
      agents: [
        {
          name: "main",
          auth: { _tag: "Token", token: "{token:main}" as never },
          environment_variables: { OWNER: "{owner.name}" },
          scripts: [
            {
              display_name: "Owner",
              icon: "",
              script: 'touch "greeted-$OWNER"',
              cron: "",
              start_blocks_login: false,
              run_on_start: false,
              run_on_stop: false,
              timeout_seconds: 0,
              log_path: ""
            }
          ]
        }
      ]
    }
  ]
}

/** Runs between the reconciliation's reading of the pool and its actions. */
let afterReading = (): Promise<void> => Promise.resolve()

const paused = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, PrebuildRepository)
    const existing = Effect.tap(repository.existing, () => Effect.promise(() => afterReading()))
    return Context.add(context, PrebuildRepository, { ...repository, existing })
  })

const Build = Schema.Struct({
  id: Schema.String,
  build_number: Schema.Number,
  status: Schema.String,
  initiator_name: Schema.String,
  job: Schema.Struct({ status: Schema.String }),
  resources: Schema.Array(
    Schema.Struct({
      agents: Schema.optional(Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.String, lifecycle_state: Schema.String })))
    })
  )
})
const Workspace = Schema.Struct({ id: Schema.String, name: Schema.String, owner_name: Schema.String, latest_build: Build })
const Workspaces = Schema.Struct({ workspaces: Schema.Array(Workspace) })
const Entries = Schema.Struct({
  audit_logs: Schema.Array(Schema.Struct({ action: Schema.String, resource_type: Schema.String, status_code: Schema.Number }))
})

describeAgentsOn(
  [
    ["SQLite", paused(sqlite)],
    ["PostgreSQL", paused(postgres)]
  ],
  "hand-overs of prebuilt workspaces",
  (server) => {
    let templateId: string
    const folder = mkdtempSync(join(tmpdir(), "hand-overs-"))
    const agents = new Map<string, Fiber.RuntimeFiber<never>>()
    const owner = () => server().owner().token

    const prebuilt = async () => (await server().call("GET", "/workspaces?q=owner:prebuilds", { token: owner() })).as(Workspaces).workspaces

    const agentsOf = ({ latest_build }: typeof Workspace.Type) => latest_build.resources.flatMap(({ agents = [] }) => agents)

    /** Runs the program of an agent for each workspace of the pool, and waits until all are ready. */
    const readyPool = () =>
      vi.waitFor(
        async () => {
          const found = await prebuilt()
          for (const { id, latest_build } of found) {
            if (agents.has(id) || latest_build.job.status !== "succeeded") continue
            const token = Redacted.make(lastingToken(id, "main"))
            const config = aConfig(new URL(server().url), mkdtempSync(join(folder, "agent-")), { token })
            agents.set(id, Effect.runFork(Effect.provide(Agent.run(config), Logger.minimumLogLevel(LogLevel.None))))
          }
          expect(found.map(agentsOf)).toStrictEqual(
            Array.from({ length: pool }, () => [expect.objectContaining({ status: "connected", lifecycle_state: "ready" })])
          )
          return found
        },
        { timeout: 20_000, interval: 100 }
      )

    const pause = (reconciliation_paused: boolean) =>
      server().call("PUT", "/prebuilds/settings", { token: owner(), body: { reconciliation_paused } })

    const create = async (name: string) => {
      const rich_parameter_values = [{ name: "size", value: "2" }]
      const body = { name, template_id: templateId, rich_parameter_values }
      return (await server().call("POST", "/users/me/workspaces", { token: owner(), body })).as(Workspace)
    }

    const endAgent = (id: string) => {
      const fiber = agents.get(id)
      return fiber === undefined ? Promise.resolve() : Effect.runPromise(Effect.asVoid(Fiber.interrupt(fiber)))
    }

    beforeAll(async () => {
      templateId = (await aTemplate(server(), template)).id
    })
    afterAll(() => {
      // An agent whose workspace is gone would try for a while to say that it ends
      for (const fiber of agents.values()) Effect.runFork(Fiber.interruptFork(fiber))
      rmSync(folder, { recursive: true, force: true })
    })

    it("give a creation the running workspace at once, with its agent, and end the agent's old token", async () => {
      const before = await readyPool()
      await pause(true)
      const created = await create("mine")
      expect(created).toMatchObject({ name: "mine", owner_name: "owner" })
      expect(created.latest_build).toMatchObject({ build_number: 2, status: "running", job: { status: "succeeded" } })
      const found = before.find(({ id }) => id === created.id)
      expect(agentsOf(created)).toStrictEqual(found === undefined ? [] : agentsOf(found))

      // The connection with the new token stays when the old one's ends
      const [agent] = agentsOf(created)
      const exec = (program: string) =>
        server().call("POST", `/workspaceagents/${agent?.id}/exec`, { token: owner(), body: { program, args: ["-c", "echo $OWNER"] } })
      for (const _ of [1, 2, 3]) expect((await exec("sh")).body).toMatchObject({ exit_code: 0, stdout: "owner\n" })

      const old = lastingToken(created.id, "main")
      expect((await server().call("GET", "/workspaceagents/me/gitsshkey", { token: old })).status).toBe(401)
      const greeted = () => readdirSync(folder).filter((home) => existsSync(join(folder, home, "greeted-owner")))
      await vi.waitFor(() => expect(greeted()).toHaveLength(1), { timeout: 10_000 })

      const entries = (await server().call("GET", "/audit?limit=20", { token: owner() })).as(Entries).audit_logs
      expect(entries).toContainEqual({ action: "create", resource_type: "workspace", status_code: 201 })
      expect(entries).toContainEqual({ action: "start", resource_type: "workspace_build", status_code: 200 })
      const { text } = await server().call("GET", `/workspacebuilds/${created.latest_build.id}/logs?format=text`, { token: owner() })
      expect(text).toContain("It has been handed over to its owner as it runs.")
    })

    it("go to one of several creations at once, and the others get workspaces of their own", async () => {
      const [left] = await prebuilt()
      const created = await Promise.all(["one", "two", "three"].map(create))
      const claimed = created.filter(({ latest_build }) => latest_build.build_number === 2)
      expect(claimed.map(({ id, latest_build }) => [id, latest_build.status])).toStrictEqual([[left?.id, "running"]])
      expect(new Set(created.map(({ id }) => id)).size).toBe(3)
    })

    it("give way to a build where the agent is away, or knows no other tokens", async () => {
      await pause(false)
      const before = await readyPool()
      await pause(true)
      await Promise.all(before.map(({ id }) => endAgent(id)))
      const created = await create("away")
      // The agents have reported that they are off: a workspace of its own, or one that is built
      expect(created.latest_build.job.status).toBe("pending")
    })

    it("are safe from the pool that has just decided to delete the workspace", async () => {
      for (const { id } of await prebuilt()) agents.delete(id)
      const old = new Set((await prebuilt()).map(({ id }) => id))
      await server().call("POST", `/templates/${templateId}/prebuilds/invalidate`, { token: owner() })
      await pause(false)
      await vi.waitFor(async () => expect((await prebuilt()).filter(({ id }) => old.has(id))).toStrictEqual([]), { timeout: 20_000 })
      await readyPool()
      const claimed = new Promise<typeof Workspace.Type>((resolve) => {
        afterReading = async () => {
          afterReading = () => Promise.resolve()
          resolve(await create("kept"))
        }
      })
      await pause(true)
      await server().call("POST", `/templates/${templateId}/prebuilds/invalidate`, { token: owner() })
      await pause(false)
      const { id, latest_build } = await claimed
      expect(latest_build).toMatchObject({ build_number: 2, status: "running" })
      await vi.waitFor(async () => expect((await prebuilt()).some((one) => one.id === id)).toBe(false))
      await pause(true)
      const now = (await server().call("GET", `/workspaces/${id}`, { token: owner() })).as(Workspace)
      expect(now.latest_build).toMatchObject({ build_number: 2, status: "running" })
    })
  },
  {
    entitlements: { has: () => true },
    provisioner: testEngines,
    options: { workspacePrebuildsReconciliationInterval: "200 millis" }
  }
)
