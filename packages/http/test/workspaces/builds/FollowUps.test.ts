import { SqlClient } from "@effect/sql"
import { Locks } from "@atelier/core/platform"
import { buildFollowUps } from "@atelier/core/workspaces"
import { Effect, Schedule, Schema } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../../../test/outside/engine.js"
import { type Answer, describeServerOnEach, type Person } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace, buildEnded, getBuild, getWorkspace, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { WorkspaceBuild } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]
const Statuses = Schema.Array(Schema.Struct({ status: Schema.String, attempts: Schema.Number }))
const start = { transition: "start" }

describeServerOnEach(
  "a build that follows another",
  (server, once) => {
    const owner = () => server().owner()
    const look = () => server().run(buildFollowUps.run)

    /** Keeps the server's own worker from looking until the test is through: it would queue a start before the test has made it impossible. */
    const alone = (test: () => Promise<void>) =>
      server().run(
        Effect.flatMap(Locks, ({ tryWith }) =>
          tryWith(`worker:${buildFollowUps.name}`, Effect.promise(test)).pipe(Effect.flatten, Effect.retry(Schedule.spaced("10 millis")))
        )
      )

    /** Runs a statement on the server's database. */
    const execute = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
      server().run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

    /** What is known of what follows a build. */
    const followUpOf = ({ id }: { readonly id: string }) =>
      server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          const rows = yield* sql`SELECT status, attempts FROM workspace_build_follow_ups WHERE build_id = ${id}`
          return Schema.decodeUnknownSync(Statuses)(rows)[0]
        })
      )

    once("is queued after a successful stop with the active version", async () => {
      const template = await aTemplate(server(), { parameters: [{ name: "size", mutable: true, default_value: "1" }] })
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const active = await anImportedVersion(
        server(),
        { parameters: [{ name: "size", mutable: true, default_value: "2" }] },
        { template_id: template.id }
      )
      await server().call("PATCH", `/templates/${template.id}/versions`, { token: owner().token, body: { id: active.id } })
      const stop = await aBuild(server(), workspace, member, {
        transition: "stop",
        reason: "cli",
        on_success: { ...start, rich_parameter_values: [{ name: "size", value: "7" }] }
      })
      expect(stop).toMatchObject({ build_number: 2, transition: "stop", status: "stopped" })
      await Promise.all([look(), look(), look()])
      const { latest_build } = await getWorkspace(server(), workspace.id, member)
      expect(latest_build).toMatchObject({
        build_number: 3,
        transition: "start",
        reason: "cli",
        initiator_id: member.user.id,
        template_version_id: active.id
      })
      await buildEnded(server(), latest_build)
      const parameters = await server().call("GET", `/workspacebuilds/${latest_build.id}/parameters`, { token: member.token })
      expect(parameters.body).toStrictEqual([{ name: "size", value: "7" }])
      expect(await followUpOf(stop)).toStrictEqual({ status: "queued", attempts: 0 })
      await look()
      expect((await getWorkspace(server(), workspace.id, member)).latest_build.build_number).toBe(3)
    })

    it("is dropped if the stop fails or another build follows it", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      const { id } = await anImportedVersion(server(), { fails: "apply" }, { template_id: template.id })
      const failed = await aBuild(server(), workspace, owner(), { transition: "stop", template_version_id: id, on_success: start })
      expect(failed.status).toBe("failed")
      await look()
      expect(await followUpOf(failed)).toStrictEqual({ status: "dropped", attempts: 0 })
      expect((await getWorkspace(server(), workspace.id, owner())).latest_build.id).toBe(failed.id)

      // No daemon takes builds of the version from now on
      const tags = JSON.stringify({ scope: "organization", owner: "", planet: "mars" })
      const version = template.active_version_id
      await execute(
        (sql) => sql`UPDATE provisioner_jobs SET tags = ${tags} WHERE id = (SELECT job_id FROM template_versions WHERE id = ${version})`
      )
      const stop = async () =>
        (await requestBuild(server(), workspace, owner(), { transition: "stop", template_version_id: version, on_success: start })).as(
          WorkspaceBuild
        )
      const canceled = await stop()
      await server().call("PATCH", `/workspacebuilds/${canceled.id}/cancel`, { token: owner().token })
      await look()
      expect(await followUpOf(canceled)).toStrictEqual({ status: "dropped", attempts: 0 })

      const overtaken = await stop()
      const due = (at: string) =>
        execute((sql) => sql`UPDATE workspace_build_follow_ups SET due_at = ${at} WHERE build_id = ${overtaken.id}`)
      await due("2999-01-01T00:00:00.000Z")
      const now = overtaken.created_at
      await execute((sql) => sql`UPDATE provisioner_jobs SET started_at = ${now}, completed_at = ${now} WHERE id = ${overtaken.job.id}`)
      await stop()
      await due(now)
      await look()
      expect(await followUpOf(overtaken)).toStrictEqual({ status: "dropped", attempts: 0 })
    })

    once("is refused for good with an unusable version, and otherwise tried four times", () =>
      alone(async () => {
        const template = await aTemplate(server())
        const workspace = await aWorkspace(server(), template, owner())
        const stopped = async (template_version_id: string) =>
          aBuild(server(), workspace, owner(), { transition: "stop", on_success: { ...start, template_version_id } })
        const moved = await anImportedVersion(server(), {}, { template_id: template.id })
        const refused = await stopped(moved.id)
        const other = await aTemplate(server())
        await execute((sql) => sql`UPDATE template_versions SET template_id = ${other.id} WHERE id = ${moved.id}`)
        await look()
        expect(await followUpOf(refused)).toStrictEqual({ status: "failed", attempts: 0 })

        const importing = await anImportedVersion(server(), {}, { template_id: template.id })
        await execute((sql) => sql`UPDATE provisioner_jobs SET completed_at = NULL WHERE id = ${importing.job.id}`)
        const waiting = await stopped(importing.id)
        for (const attempts of [1, 2, 3]) {
          await look()
          await look()
          expect(await followUpOf(waiting)).toStrictEqual({ status: "pending", attempts })
          server().advance("31 seconds")
        }
        await look()
        expect(await followUpOf(waiting)).toStrictEqual({ status: "failed", attempts: 3 })
        expect((await getWorkspace(server(), workspace.id, owner())).latest_build.id).toBe(waiting.id)
      })
    )

    once("is a start after a stop; only template editors choose its version", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const before = workspace.latest_build.id
      const ask = (fields: object, person: Person = member) => requestBuild(server(), workspace, person, { transition: "stop", ...fields })
      expect(refusal(await ask({ transition: "start", on_success: start }))).toStrictEqual([400, ["on_success"]])
      expect(refusal(await ask({ on_success: { transition: "stop" } }))).toStrictEqual([400, ["transition"]])
      expect(refusal(await ask({ on_success: {} }))).toStrictEqual([400, ["transition"]])
      expect(refusal(await ask({ dry_run: true, on_success: start }))).toStrictEqual([400, ["on_success"]])
      expect(refusal(await ask({ state: "AQ==", on_success: start }, owner()))).toStrictEqual([400, ["on_success"]])
      const unknown = { ...start, template_version_id: workspace.id }
      expect(refusal(await ask({ on_success: unknown }, owner()))).toStrictEqual([400, ["on_success.template_version_id"]])
      const other = { ...start, template_version_id: (await aTemplate(server())).active_version_id }
      expect(refusal(await ask({ on_success: other }, owner()))).toStrictEqual([400, ["on_success.template_version_id"]])
      const noPreset = { ...start, template_version_id: template.active_version_id, template_version_preset_id: template.id }
      expect(refusal(await ask({ on_success: noPreset }, owner()))).toStrictEqual([400, ["on_success.template_version_preset_id"]])
      const preset = { ...start, template_version_preset_id: template.id }
      expect(refusal(await ask({ on_success: preset }))).toStrictEqual([400, ["on_success.template_version_preset_id"]])
      expect((await ask({ on_success: { ...start, template_version_id: template.active_version_id } })).status).toBe(403)
      expect((await getBuild(server(), before, member)).status).toBe("running")
      expect((await getWorkspace(server(), workspace.id, member)).latest_build.id).toBe(before)
      await buildEnded(
        server(),
        (await ask({ on_success: { ...start, template_version_id: template.active_version_id } }, owner())).as(WorkspaceBuild)
      )
    })

    // Sessions have ended after it
    once("is forgotten a day after it was queued", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      const stop = await aBuild(server(), workspace, owner(), { transition: "stop", on_success: start })
      await look()
      expect(await followUpOf(stop)).toStrictEqual({ status: "queued", attempts: 0 })
      server().advance("25 hours")
      await look()
      expect(await followUpOf(stop)).toBeUndefined()
    })
  },
  { provisioner: testEngines }
)
