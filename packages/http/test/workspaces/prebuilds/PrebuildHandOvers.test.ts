import { AgentRepository } from "@atelier/core/agents"
import { PrebuildRepository } from "@atelier/core/workspaces"
import { Context, Effect, Layer, Schema } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { lastingToken, testEngines } from "../../../../../test/outside/engine.js"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { describeAgentsOn } from "../../agents/AgentServer.js"
import { agentsOf, aPool, template, Workspace } from "./pool.js"

/** Runs before the agent of a token is looked for. */
let beforeToken = (): Promise<unknown> => Promise.resolve()

/** Runs between the reconciliation's reading of the pool and its actions. */
let afterReading = (): Promise<void> => Promise.resolve()

const paused = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, PrebuildRepository)
    const existing = Effect.tap(repository.existing, () => Effect.promise(() => afterReading()))
    const agents = Context.get(context, AgentRepository)
    const byToken = (hash: Uint8Array) =>
      Effect.zipRight(
        Effect.promise(() => beforeToken()),
        agents.byToken(hash)
      )
    return context.pipe(Context.add(PrebuildRepository, { ...repository, existing }), Context.add(AgentRepository, { ...agents, byToken }))
  })

const Entries = Schema.Struct({
  audit_logs: Schema.Array(Schema.Struct({ action: Schema.String, resource_type: Schema.String, status_code: Schema.Number }))
})

describeAgentsOn(
  [
    ["SQLite", paused(sqlite)],
    ["PostgreSQL", paused(postgres)]
  ],
  "hand-overs of prebuilt workspaces",
  (server, once) => {
    let templateId: string
    const { agents, close, create: createOf, endAgent, exec, pause, prebuilt, ready: readyPool } = aPool(server)
    const create = (name: string) => createOf(templateId, name)
    const owner = () => server().owner().token

    beforeAll(async () => {
      templateId = (await aTemplate(server(), template)).id
      // The pool's next turn by itself comes after the test
      await pause(true)
      await pause(false)
    })
    afterAll(close)

    let creations = 0

    /** Creates workspaces until one is given a running workspace of the pool. On a busy machine an agent may answer too late, and its workspace is built. */
    const handedOver = () =>
      vi.waitFor(
        async () => {
          await pause(false)
          const before = await readyPool()
          await pause(true)
          const name = `mine-${++creations}`
          const created = await create(name)
          expect(created).toMatchObject({ name, owner_name: "owner" })
          expect(created.latest_build).toMatchObject({ build_number: 2, status: "running", job: { status: "succeeded" } })
          return { before, created }
        },
        { timeout: 60_000 }
      )

    it("give a creation the running workspace at once, with its agent, and end the agent's old token", async () => {
      const { before, created } = await handedOver()
      const found = before.find(({ id }) => id === created.id)
      expect(agentsOf(created)).toStrictEqual(found === undefined ? [] : agentsOf(found))

      // The connection with the new token stays when the old one's ends
      for (const _ of [1, 2, 3]) expect(await exec(created, "echo $OWNER")).toMatchObject({ exit_code: 0, stdout: "owner\n" })

      const old = lastingToken(created.id, "main")
      expect((await server().call("GET", "/workspaceagents/me/gitsshkey", { token: old })).status).toBe(401)
      await vi.waitFor(async () => expect(await exec(created, "ls")).toMatchObject({ stdout: expect.stringContaining("greeted-owner") }), {
        timeout: 60_000
      })

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
      // As it runs, or by a build where the other starts leave its agent no time to answer
      expect(claimed.map(({ id }) => id)).toStrictEqual([left?.id])
      expect(new Set(created.map(({ id }) => id)).size).toBe(3)
    })

    once("have the pool filled up again at once", async () => {
      await pause(false)
      const before = (await readyPool()).map(({ id }) => id)
      const { id } = await create("another")
      expect(before).toContain(id)
      const after = (await readyPool()).map((one) => one.id)
      expect(after).not.toContain(id)
    })

    once("give way to a build where the agent is away, or knows no other tokens", async () => {
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
      await vi.waitFor(async () => expect((await prebuilt()).filter(({ id }) => old.has(id))).toStrictEqual([]), { timeout: 60_000 })
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
      await vi.waitFor(async () => expect((await prebuilt()).some((one) => one.id === id)).toBe(false), { timeout: 60_000 })
      await pause(true)
      const now = (await server().call("GET", `/workspaces/${id}`, { token: owner() })).as(Workspace)
      expect(now.latest_build).toMatchObject({ build_number: 2, status: "running" })
    })

    once("wait two seconds for an agent that does not say that it works with its token", async () => {
      await pause(false)
      await readyPool()
      await pause(true)
      const held: Array<(value?: unknown) => void> = []
      beforeToken = () => new Promise((resolve) => held.push(resolve))
      const begun = performance.now()
      const created = await create("late")
      const took = performance.now() - begun
      beforeToken = () => Promise.resolve()
      for (const release of held) release()
      expect(created.latest_build).toMatchObject({ build_number: 2, status: "running" })
      expect(took).toBeLessThan(7_000)
    })
  },
  {
    entitlements: { has: () => true },
    provisioner: testEngines,
    options: { workspacePrebuildsReconciliationInterval: "1 hour" }
  }
)
