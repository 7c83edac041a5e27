/** What engines keep of builds, in the store and out of it. */
import { SqlClient } from "@effect/sql"
import { Access, SystemActor } from "@atelier/core/access"
import { SecretValues } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { type Engine, JobClaims, ProvisionerEngines } from "@atelier/core/provisioning"
import { BuildStates, sealedColumns, type WorkspaceBuildId, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { NodeEncryption } from "@atelier/node"
import { Chunk, Effect, Exit, Layer, Option, Schema, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { poisoned } from "../../../../../test/store/poison.js"
import { testEngine } from "../../../../../test/outside/engine.js"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aQueuedWorkspace, aWorkspace, buildEnded, getBuild, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { WorkspaceBuild } from "../../../src/contract/workspaces/workspaces.js"

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** States that the engine was given, by the id of the build. */
const given = new Map<string, string>()

/** What the engine was told of deletions whose workspace no earlier build had finished, by the id of the build. */
const unfinished = new Map<string, boolean | undefined>()

const recordingEngine: Engine = {
  ...testEngine,
  open: (source, log) =>
    Effect.map(testEngine.open(source, log), (session) => ({
      ...session,
      plan: (input) => {
        unfinished.set(input.metadata.workspace_build_id, input.unfinished)
        return session.plan(input)
      },
      apply: (input) =>
        Effect.map(session.apply(input), (applied) => {
          const id = input.metadata.workspace_build_id
          given.set(id, textOf(input.state))
          return { ...applied, state: bytesOf(`secret of ${id}`) }
        })
    }))
}

const Row = Schema.Struct({
  id: Schema.String,
  provisioner_state: Schema.Uint8ArrayFromSelf,
  sealed_state_key_id: Schema.String,
  sealed_state: Schema.NullOr(Schema.Uint8ArrayFromSelf)
})

/** Runs a statement on the server's database. */
const query = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** The builds of a workspace as they are stored, oldest first. */
const rowsOf = async (server: TestServer, workspaceId: string) =>
  Schema.decodeUnknownSync(Schema.Array(Row))(
    await query(
      server,
      (sql) => sql`SELECT id, provisioner_state, sealed_state_key_id, sealed_state FROM workspace_builds
        WHERE workspace_id = ${workspaceId} ORDER BY build_number`
    )
  )

/** Makes a state what an older version wrote. */
const storePlain = (server: TestServer, id: string, state: string) =>
  query(
    server,
    (sql) =>
      sql`UPDATE workspace_builds SET provisioner_state = ${bytesOf(state)}, sealed_state_key_id = '', sealed_state = NULL WHERE id = ${id}`
  )

const stateOf = (server: TestServer, id: WorkspaceBuildId): Promise<string> =>
  server.run(
    Effect.map(
      Effect.flatMap(BuildStates, ({ of }) => of(id)),
      textOf
    )
  )

/** Services of a process that encrypts with another key. */
const withKey = (key: NodeEncryption.EncryptionKey) =>
  Layer.fresh(
    SecretValues.layer.pipe(
      Layer.provideMerge(sealedColumns),
      Layer.provideMerge(BuildStates.layer),
      Layer.provide(NodeEncryption.layer([key]))
    )
  )

describeServer(
  "states of builds",
  (server) => {
    const aStarted = async () => aWorkspace(server(), await aTemplate(server()), server().owner())

    it("are stored encrypted, and given to the engine of the next build", async () => {
      const workspace = await aStarted()
      const first = workspace.latest_build.id
      const second = await aBuild(server(), workspace, server().owner(), { transition: "stop" })
      expect([given.get(first), given.get(second.id)]).toStrictEqual(["", `secret of ${first}`])
      const rows = await rowsOf(server(), workspace.id)
      expect(rows.map(({ provisioner_state }) => provisioner_state.length)).toStrictEqual([0, 0])
      for (const { id, sealed_state, sealed_state_key_id } of rows) {
        expect(sealed_state_key_id).toMatch(/^[0-9a-f]{16}$/)
        expect(Buffer.from(sealed_state ?? []).toString("latin1")).not.toContain("secret")
        expect(await stateOf(server(), id as WorkspaceBuildId)).toBe(`secret of ${id}`)
      }
    })

    it("are stored encrypted while a build waits", async () => {
      const workspace = await aStarted()
      const state = Buffer.from("a secret of the caller").toString("base64")
      const queued = (await requestBuild(server(), workspace, server().owner(), { transition: "stop", state })).as(WorkspaceBuild)
      const [, row] = await rowsOf(server(), workspace.id)
      expect(row?.provisioner_state).toHaveLength(0)
      expect(Buffer.from(row?.sealed_state ?? []).toString("latin1")).not.toContain("secret")
      await buildEnded(server(), queued)
      expect(given.get(queued.id)).toBe("a secret of the caller")
    })

    it("stay as they were where the reaper ends a build", async () => {
      const hanging = { parameters: [{ name: "hang", mutable: true, default_value: "0" }], hangs_by: "hang" }
      const workspace = await aWorkspace(server(), await aTemplate(server(), hanging), server().owner())
      const first = workspace.latest_build.id
      const rich_parameter_values = [{ name: "hang", value: "1" }]
      const hung = (await requestBuild(server(), workspace, server().owner(), { transition: "start", rich_parameter_values })).as(
        WorkspaceBuild
      )
      const untouched = Timestamp.fromMillis(Date.now() + 60_000)
      await server().run(Effect.flatMap(JobClaims, ({ reap }) => reap(hung.job.id, untouched, "hung")))
      await buildEnded(server(), hung)
      expect(await getBuild(server(), hung.id, server().owner())).toMatchObject({ status: "failed", job: { error: "hung" } })
      expect(await stateOf(server(), hung.id)).toBe(`secret of ${first}`)
      const stopped = await aBuild(server(), workspace, server().owner(), { transition: "stop" })
      expect([stopped.status, given.get(stopped.id)]).toStrictEqual(["stopped", `secret of ${first}`])
    })

    it("are known to an orphaned workspace whose deletion has failed before", async () => {
      const failing = { parameters: [{ name: "fails", default_value: "delete" }], fails_by: "fails" }
      const workspace = await aWorkspace(server(), await aTemplate(server(), failing), server().owner())
      const orphan = () => aBuild(server(), workspace, server().owner(), { transition: "delete", orphan: true })
      for (const { id, status } of [await orphan(), await orphan()]) expect([status, unfinished.get(id)]).toStrictEqual(["failed", false])
    })

    it("are unknown of a workspace whose only start was reaped", async () => {
      const hanging = { parameters: [{ name: "hang", default_value: "1" }], hangs_by: "hang" }
      const { id, latest_build } = await aQueuedWorkspace(server(), await aTemplate(server(), hanging), server().owner())
      await server().run(
        Effect.flatMap(JobClaims, ({ reap }) => reap(latest_build.job.id, Timestamp.fromMillis(Date.now() + 60_000), "hung"))
      )
      await buildEnded(server(), latest_build)
      const deletion = await aBuild(server(), { id }, server().owner(), { transition: "delete" })
      expect([deletion.status, unfinished.get(deletion.id)]).toStrictEqual(["deleted", true])
    })

    it("stay as they were where the reaper ends a build that waits", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, server().owner())
      const tags = JSON.stringify({ scope: "organization", owner: "", planet: "mars" })
      await query(
        server(),
        (sql) =>
          sql`UPDATE provisioner_jobs SET tags = ${tags}
            WHERE id = (SELECT job_id FROM template_versions WHERE id = ${template.active_version_id})`
      )
      const waiting = (await requestBuild(server(), workspace, server().owner(), { transition: "stop" })).as(WorkspaceBuild)
      expect(waiting.status).toBe("pending")
      const untouched = Timestamp.fromMillis(Date.now() + 60_000)
      await server().run(Effect.flatMap(JobClaims, ({ reap }) => reap(waiting.job.id, untouched, "forgotten")))
      const { job, status } = await getBuild(server(), waiting.id, server().owner())
      expect([status, job.error]).toStrictEqual(["failed", "forgotten"])
      expect(await stateOf(server(), waiting.id)).toBe(`secret of ${workspace.latest_build.id}`)
    })

    it("cannot be read in the row of another build", async () => {
      const [workspace, other] = [await aStarted(), await aStarted()]
      await query(
        server(),
        (sql) => sql`UPDATE workspace_builds SET sealed_state = (SELECT o.sealed_state FROM workspace_builds o
          WHERE o.id = ${other.latest_build.id}) WHERE id = ${workspace.latest_build.id}`
      )
      const { token } = server().owner()
      expect((await server().call("GET", `/workspacebuilds/${workspace.latest_build.id}/state`, { token })).status).toBe(409)
    })

    it("of an older version are still used, and encrypted by the worker", async () => {
      const workspace = await aStarted()
      const made = [workspace.latest_build.id]
      await storePlain(server(), workspace.latest_build.id, "plain")
      const second = await aBuild(server(), workspace, server().owner(), { transition: "start" })
      expect(given.get(second.id)).toBe("plain")

      // More than the worker holds at once
      while (made.length < 12) made.push((await aStarted()).latest_build.id)
      for (const id of made) await storePlain(server(), id, `plain ${id}`)
      await server().run(Effect.flatMap(BuildStates, ({ sealing }) => Effect.all([sealing.run, sealing.run], { concurrency: 2 })))
      expect(await server().run(Effect.flatMap(WorkspaceBuildRepository, ({ plainStates }) => plainStates(Uuid.nil, 1)))).toHaveLength(0)
      const [row] = await rowsOf(server(), workspace.id)
      expect(row).toMatchObject({ sealed_state_key_id: expect.stringMatching(/./) })
      expect(row?.provisioner_state).toHaveLength(0)
      for (const id of made) expect(await stateOf(server(), id)).toBe(`plain ${id}`)
    })

    it("are encrypted beside one that cannot be written", async () => {
      const made = [(await aStarted()).latest_build.id, (await aStarted()).latest_build.id, (await aStarted()).latest_build.id]
      for (const id of made) await storePlain(server(), id, "plain")
      const [, poison, last] = made.toSorted()
      const run = Effect.flatMap(BuildStates, ({ sealing }) => Effect.exit(sealing.run))
      const exit = await server().run(
        Effect.scoped(Effect.zipRight(poisoned("workspace_builds", "id", poison ?? ""), run)).pipe(
          Effect.provideServiceEffect(SqlClient.SqlClient, Effect.orDie(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))))
        )
      )
      expect(Exit.isFailure(exit)).toBe(true)
      const plain = await server().run(Effect.flatMap(WorkspaceBuildRepository, ({ plainStates }) => plainStates(Uuid.nil, 10)))
      expect(plain.map(({ id }) => id)).toStrictEqual([poison])
      expect(await stateOf(server(), last as WorkspaceBuildId)).toBe("plain")
      await server().run(Effect.flatMap(BuildStates, ({ sealing }) => sealing.run))
    })

    it("that were written while they were encrypted are not lost", async () => {
      const { latest_build } = await aStarted()
      await storePlain(server(), latest_build.id, "old")
      const sealed = await server().run(
        Effect.gen(function* () {
          const repository = yield* WorkspaceBuildRepository
          const { seal } = yield* BuildStates
          const state = Option.getOrThrow(Option.fromNullable(yield* seal(latest_build.id, bytesOf("old"))))
          yield* repository.setState(latest_build.id, yield* seal(latest_build.id, bytesOf("new")), latest_build.updated_at)
          return yield* repository.sealState({ id: latest_build.id, state: bytesOf("old") }, state)
        })
      )
      expect(sealed).toBe(false)
      expect(await stateOf(server(), latest_build.id)).toBe("new")
    })

    it("are encrypted with a new key, and builds need it from then on", async () => {
      const workspace = await aStarted()
      const plain = await aStarted()
      await storePlain(server(), plain.latest_build.id, "plain")
      const { id } = workspace.latest_build
      const key = NodeEncryption.parseKey(randomBytes(32).toString("base64"))
      await server().run(
        Effect.flatMap(SecretValues, ({ reseal }) => reseal()).pipe(
          Access.actingAs(SystemActor.cryptoKeyRotator),
          Effect.provide(withKey(key))
        )
      )
      const rows = [...(await rowsOf(server(), workspace.id)), ...(await rowsOf(server(), plain.id))]
      expect(rows.map(({ sealed_state_key_id }) => sealed_state_key_id)).toStrictEqual([key.id, key.id])
      const read = server().run(
        Effect.provide(
          Effect.flatMap(BuildStates, ({ of }) => Effect.all([of(id), of(plain.latest_build.id)])),
          withKey(key)
        )
      )
      expect((await read).map(textOf)).toStrictEqual([`secret of ${id}`, "plain"])

      const { token } = server().owner()
      expect((await server().call("GET", `/workspacebuilds/${id}/state`, { token })).status).toBe(409)
      expect((await requestBuild(server(), workspace, server().owner(), { transition: "stop" })).status).toBe(409)
      const running = await server().run(Effect.flatMap(BuildStates, (states) => Stream.runCollect(states.running)))
      // All that run, although they are read in batches; their states are not known
      expect(Chunk.size(running)).toBeGreaterThan(10)
      expect(Chunk.toReadonlyArray(running)).toContainEqual({ workspace_id: workspace.id, state: Option.none() })

      const state = Buffer.from("given").toString("base64")
      const build = await aBuild(server(), workspace, server().owner(), { transition: "stop", state })
      expect([build.status, given.get(build.id)]).toStrictEqual(["stopped", "given"])
    })
  },
  { provisioner: Layer.succeed(ProvisionerEngines, [recordingEngine]) }
)
