import { SqlClient } from "@effect/sql"
import { Locks } from "@atelier/core/platform"
import { buildFollowUps, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { Context, Effect, Layer, Schedule } from "effect"
import { expect, it } from "vitest"
import { describeServerOn } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace, getWorkspace, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { postgres, sqlite } from "../../../../../test/store/databases.js"

const nothing = () => Promise.resolve()

/** Runs once, between the reading of a workspace and the queueing of its next build. */
let meanwhile: () => Promise<unknown> = nothing

const hooked = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, WorkspaceBuildRepository)
    const parameters: typeof repository.parameters = (id) =>
      Effect.zipRight(
        Effect.promise(() => {
          const run = meanwhile
          meanwhile = nothing
          return run()
        }),
        repository.parameters(id)
      )
    return Context.add(context, WorkspaceBuildRepository, { ...repository, parameters })
  })

describeServerOn(
  [
    ["SQLite", hooked(sqlite)],
    ["PostgreSQL", hooked(postgres)]
  ],
  "a workspace that becomes dormant while its start is decided on",
  (server) => {
    const owner = () => server().owner()

    const becomesDormant = (id: string) => async () => {
      const { status } = await server().call("PUT", `/workspaces/${id}/dormant`, { token: owner().token, body: { dormant: true } })
      expect(status).toBe(200)
    }

    it("is not started, and is woken by the next start", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      await aBuild(server(), workspace, owner(), { transition: "stop" })
      meanwhile = becomesDormant(workspace.id)
      expect((await requestBuild(server(), workspace, owner(), { transition: "start" })).status).toBe(409)
      const dormant = await getWorkspace(server(), workspace.id, owner())
      expect([typeof dormant.dormant_at, dormant.latest_build.build_number]).toStrictEqual(["string", 2])
      await aBuild(server(), workspace, owner(), { transition: "start" })
      expect((await getWorkspace(server(), workspace.id, owner())).dormant_at).toBeNull()
    })

    it("is not started by what follows its stop", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      // The server's own worker must not look first
      const alone = (test: () => Promise<void>) =>
        server().run(
          Effect.flatMap(Locks, ({ tryWith }) =>
            tryWith(`worker:${buildFollowUps.name}`, Effect.promise(test)).pipe(Effect.flatten, Effect.retry(Schedule.spaced("10 millis")))
          )
        )
      await alone(async () => {
        const stop = await aBuild(server(), workspace, owner(), { transition: "stop", on_success: { transition: "start" } })
        meanwhile = becomesDormant(workspace.id)
        await server().run(buildFollowUps.run)
        const { dormant_at, latest_build } = await getWorkspace(server(), workspace.id, owner())
        expect([typeof dormant_at, latest_build.id]).toStrictEqual(["string", stop.id])
        const [followUp] = await server().run(
          Effect.flatMap(
            Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)),
            (sql) => sql`SELECT status FROM workspace_build_follow_ups WHERE build_id = ${stop.id}`
          )
        )
        expect(followUp).toStrictEqual({ status: "dropped" })
      })
    })
  },
  { provisioner: testEngines }
)
