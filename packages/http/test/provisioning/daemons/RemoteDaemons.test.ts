import type { ProvisionerMessages } from "@atelier/agent-protocol"
import { Deferred, Effect, FiberId, Option, Schema, Stream } from "effect"
import { once } from "node:events"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { WebSocket } from "ws"
import { aVersion, getVersion } from "../../../../../test/http/templates.js"
import { describeAgents } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "./aDaemon.js"

const unknownId = "3f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a61"

const Identified = Schema.Struct({ id: Schema.String })
const Job = Schema.Struct({ job: Schema.Struct({ id: Schema.String, status: Schema.String, error: Schema.optional(Schema.String) }) })
const Daemon = Schema.Struct({ name: Schema.String, provisioners: Schema.Array(Schema.String), api_version: Schema.String })
const Build = Schema.Struct({ latest_build: Schema.Struct({ id: Schema.String, status: Schema.String, ...Job.fields }) })
const aResource = (token: string): Partial<ProvisionerMessages.Resource> => ({
  name: "machine",
  type: "docker_container",
  agents: [{ name: "main", operating_system: "linux", architecture: "amd64", auth: { case: "token", value: token } }] as never
})

describeAgents(
  "a daemon in another process",
  (server) => {
    const owner = () => server().owner().token
    let secret: string
    let daemon: Awaited<ReturnType<typeof aDaemon>>
    const header = keyHeader

    const newKey = (name: string, tags: Readonly<Record<string, string>>) => aKey(server(), name, tags)

    beforeAll(async () => {
      secret = await newKey("far", { site: "far" })
      const { id } = (await server().call("GET", "/organizations/default", { token: owner() })).as(Identified)
      await server().call("PATCH", `/groups/${id}`, { token: owner(), body: { quota_allowance: 10 } })
      daemon = await aDaemon(server().url, { [header]: secret }, "&name=one&version=1.18")
    })
    afterAll(() => daemon.close())

    const anImport = () => aVersion(server(), {}, { provisioner: "terraform", tags: { site: "far" } })

    it("connects with a secret of 43 characters, which is not shown again", async () => {
      expect(secret).toMatch(/^[\w-]{43}$/)
      for (const path of ["provisionerkeys", "provisionerkeys/daemons", "provisionerdaemons"]) {
        const { text } = await server().call("GET", `/organizations/default/${path}`, { token: owner() })
        expect([path, text.includes('"far"'), text.includes(secret)]).toStrictEqual([path, true, false])
      }
    })

    it("hears of an organization only with a credential, and with a key only of the key's own", async () => {
      const { name } = (await server().call("POST", "/organizations", { token: owner(), body: { name: "elsewhere" } })).as(
        Schema.Struct({ name: Schema.String })
      )
      const refused = async (headers: Readonly<Record<string, string>>, organization: string) => {
        const path = `${server().url}/api/v2/organizations/${organization}/provisionerdaemons/serve?provisioner=terraform`
        const answer = await fetch(path, { headers })
        return [answer.status, Schema.decodeUnknownSync(Schema.Struct({ message: Schema.String }))(await answer.json()).message]
      }
      for (const organization of ["default", name, "none"]) {
        expect((await refused({}, organization))[0]).toBe(401)
        expect((await refused({ [header]: "A".repeat(43) }, organization))[0]).toBe(401)
      }
      const message = 'The provisioner key is for the organization "default", not for the one that the address names.'
      for (const organization of [name, "none"]) expect(await refused({ [header]: secret }, organization)).toStrictEqual([403, message])
    })

    it("connects with the first of parameters that are given twice", async () => {
      const twice = await aDaemon(
        server().url,
        { [header]: await newKey("twice", { site: "twice" }) },
        "&provisioner=terraform&name=twice&name=other&version=1.18&version=1.18"
      )
      const shown = await vi
        .waitFor(
          async () => {
            const path = `/organizations/default/provisionerdaemons?tags={"site":"twice"}`
            const [found] = (await server().call("GET", path, { token: owner() })).as(Schema.NonEmptyArray(Daemon))
            return found
          },
          { timeout: 60_000 }
        )
        .finally(twice.close)
      expect(shown).toStrictEqual({ name: "twice", provisioners: ["terraform"], api_version: "1.18" })
    })

    it("imports a version with the tags of its key, and builds a workspace", async () => {
      const version = await anImport()
      const taken = await daemon.acquire()
      expect([taken.job_id, taken.type?.case, taken.template_source_archive.length > 0]).toStrictEqual([
        version.job.id,
        "template_import",
        true
      ])
      const { job_id } = taken
      const updated = await Effect.runPromise(
        daemon.calls.UpdateJob({
          job_id,
          logs: [{ source: "PROVISIONER", level: "INFO", stage: "Parse parameters", output: "hello from afar" }],
          template_variables: [{ name: "image", type: "string", default_value: "plain" }]
        })
      )
      expect(updated).toMatchObject({ canceled: false, variable_values: [{ name: "image", value: "plain" }] })
      await Effect.runPromise(
        daemon.calls.CompleteJob({
          job_id,
          type: {
            case: "template_import",
            value: {
              start_resources: [{ name: "machine", type: "docker_container" }],
              rich_parameters: [{ name: "size", type: "number", default_value: "1", mutable: true }]
            }
          }
        })
      )
      expect((await getVersion(server(), version.id)).job.status).toBe("succeeded")
      const logs = await server().call("GET", `/templateversions/${version.id}/logs`, { token: owner() })
      expect(logs.text).toContain("hello from afar")

      const template = await server().call("POST", "/organizations/default/templates", {
        token: owner(),
        body: { name: "far", template_version_id: version.id }
      })
      const workspace = (
        await server().call("POST", "/users/me/workspaces", {
          token: owner(),
          body: { name: "w", template_id: template.as(Identified).id, rich_parameter_values: [{ name: "size", value: "3" }] }
        })
      ).as(Identified)
      const build = await daemon.acquire()
      const token = "3f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a59"
      expect(build.type).toMatchObject({
        case: "workspace_build",
        value: { workspace_name: "w", rich_parameter_values: [{ name: "size", value: "3" }], metadata: { workspace_transition: "START" } }
      })
      expect(await Effect.runPromise(daemon.calls.CommitQuota({ job_id: build.job_id, daily_cost: 2 }))).toMatchObject({
        ok: true,
        credits_consumed: 2,
        budget: 10
      })
      await Effect.runPromise(
        daemon.calls.CompleteJob({
          job_id: build.job_id,
          type: { case: "workspace_build", value: { state: new Uint8Array([1, 2]), resources: [aResource(token) as never] } }
        })
      )
      const built = (await server().call("GET", `/workspaces/${workspace.id}`, { token: owner() })).as(Build)
      expect(built.latest_build.status).toBe("running")
      const { agent, close } = await server().connect(token)
      expect((await Effect.runPromise(agent.GetManifest({}))).workspace_name).toBe("w")
      await close()
    })

    it("hears that an owner cannot afford a build, which then fails whatever the daemon reports", async () => {
      const { id } = (await server().call("GET", "/organizations/default/templates/far", { token: owner() })).as(Identified)
      for (const isHonest of [true, false]) {
        const workspace = (
          await server().call("POST", "/users/me/workspaces", {
            token: owner(),
            body: { name: `dear-${isHonest}`, template_id: id, rich_parameter_values: [{ name: "size", value: "3" }] }
          })
        ).as(Identified)
        const { job_id } = await daemon.acquire()
        const quota = await Effect.runPromise(daemon.calls.CommitQuota({ job_id, daily_cost: 9 }))
        expect(quota).toMatchObject({ ok: false, credits_consumed: 2, budget: 10 })
        await Effect.runPromise(
          Effect.ignore<unknown, unknown, never>(
            isHonest
              ? daemon.calls.FailJob({ job_id, error: "too dear", error_code: "INSUFFICIENT_QUOTA" })
              : daemon.calls.CompleteJob({ job_id, type: { case: "workspace_build", value: {} } })
          )
        )
        const { latest_build } = (await server().call("GET", `/workspaces/${workspace.id}`, { token: owner() })).as(Build)
        expect(latest_build).toMatchObject({ status: "failed", job: { error: "insufficient quota" } })
      }
    })

    it("ends a job with the reason that it gives", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "terraform is missing" }))
      expect((await getVersion(server(), version.id)).job).toMatchObject({ status: "failed", error: "terraform is missing" })
    })

    it("learns with its next report that a job was canceled", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      await server().call("PATCH", `/templateversions/${version.id}/cancel`, { token: owner() })
      expect(await Effect.runPromise(daemon.calls.UpdateJob({ job_id }))).toMatchObject({ canceled: true })
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "" }))
      expect((await getVersion(server(), version.id)).job.status).toBe("canceled")
    })

    it("cannot report on a job that is not its own", async () => {
      const other = await Effect.runPromise(Effect.either(daemon.calls.UpdateJob({ job_id: "3f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a59" })))
      expect(other._tag).toBe("Left")
    })

    it("is told which of the things that it has found belong to no workspace", async () => {
      const judged = (workspace_ids: ReadonlyArray<string>, build_ids: ReadonlyArray<string>) =>
        Effect.runPromise(Effect.either(daemon.calls.JudgeRemains({ workspace_ids, build_ids })))
      // An id that the service does not know is another service's
      expect(await judged([unknownId, "none"], [unknownId])).toMatchObject({
        right: { existing_workspace_ids: [unknownId], unsuccessful_build_ids: [] }
      })
      expect(
        await judged(
          Array.from({ length: 1_001 }, () => unknownId),
          []
        )
      ).toMatchObject({
        left: { message: "A daemon asks for at most 1000 ids at once." }
      })
    })

    it("gets an empty job when it ends the wait", async () => {
      const answer = await Effect.runPromise(Stream.runHead(daemon.calls.AcquireJobWithCancel(Stream.make({}))))
      expect(Option.getOrThrow(answer).job_id).toBe("")
    })

    it("leaves an import to another daemon when it goes", async () => {
      const going = await aDaemon(server().url, { [header]: secret }, "&name=two")
      const version = await anImport()
      expect((await going.acquire()).job_id).toBe(version.job.id)
      await going.close()
      const again = await daemon.acquire()
      expect(again.job_id).toBe(version.job.id)
      await Effect.runPromise(daemon.calls.FailJob({ job_id: again.job_id, error: "enough" }))
    })

    it("may name its engines, and is refused with an invalid name", async () => {
      const key = await newKey("engines", { site: "engines" })
      const refused = await fetch(
        `${server().url}/api/v2/organizations/default/provisionerdaemons/serve?provisioner=terraform&engine=A%20B`,
        {
          headers: { [header]: key }
        }
      )
      expect(refused.status).toBe(400)
      // This server has no engine, so it cannot tell which daemon fits
      const naming = await aDaemon(server().url, { [header]: key }, "&name=naming&engine=a&engine=b")
      const version = await aVersion(server(), {}, { provisioner: "terraform", tags: { site: "engines" } })
      const { job_id } = await naming.acquire()
      expect(job_id).toBe(version.job.id)
      await Effect.runPromise(naming.calls.FailJob({ job_id, error: "enough" }))
      await naming.close()
    })

    it("cannot end or charge the job of another daemon, nor write its log", async () => {
      const liar = await aDaemon(server().url, { [header]: secret }, "&name=liar")
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const foreign = [
        liar.calls.UpdateJob({ job_id, logs: [{ stage: "Parse parameters", output: "a lie" }], readme: new Uint8Array([65]) }),
        liar.calls.CommitQuota({ job_id, daily_cost: 1 }),
        liar.calls.FailJob({ job_id, error: "a lie" }),
        liar.calls.CompleteJob({ job_id, type: { case: "template_import", value: { start_resources: [aResource(unknownId) as never] } } })
      ]
      for (const call of foreign)
        expect(await Effect.runPromise(Effect.flip<unknown, unknown, never>(call))).toMatchObject({ _tag: "RpcError" })
      expect((await getVersion(server(), version.id)).job.status).toBe("running")
      await Effect.runPromise(daemon.calls.CompleteJob({ job_id, type: { case: "template_import", value: {} } }))
      await liar.close()
      expect((await getVersion(server(), version.id)).job.status).toBe("succeeded")
      const logs = await server().call("GET", `/templateversions/${version.id}/logs`, { token: owner() })
      expect(logs.text).not.toContain("a lie")
    })

    it("fails its job with an invalid result", async () => {
      for (const type of [
        { case: "workspace_build", value: { state: new Uint8Array([1]) } },
        { case: "template_import", value: { rich_parameters: [{ name: "a" }, { name: "a" }] } }
      ] as const) {
        const version = await anImport()
        const { job_id } = await daemon.acquire()
        await Effect.runPromise(Effect.ignore(daemon.calls.CompleteJob({ job_id, type })))
        await Effect.runPromise(Effect.ignore(daemon.calls.FailJob({ job_id, error: "refused" })))
        expect((await getVersion(server(), version.id)).job.status).toBe("failed")
      }
    })

    it("keeps a part of endless logs, and says so", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const logs = Array.from(
        { length: 1_000 },
        () => ({ source: "PROVISIONER", level: "INFO", stage: "Plan", output: "x".repeat(1_500) }) as const
      )
      for (let call = 0; call < 3; call++)
        expect(await Effect.runPromise(daemon.calls.UpdateJob({ job_id, logs }))).toMatchObject({ canceled: false })
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "enough" }))
      expect((await getVersion(server(), version.id)).job).toMatchObject({ status: "failed", logs_overflowed: true })
      const stored = (await server().call("GET", `/templateversions/${version.id}/logs`, { token: owner() })).as(
        Schema.Array(Schema.Struct({ output: Schema.String, log_level: Schema.String }))
      )
      expect(stored.length).toBeLessThan(1_000)
      expect(Math.max(...stored.map(({ output }) => output.length))).toBe(1_024)
      expect(stored.at(-1)?.log_level).toBe("warn")
    })

    it("runs each job once beside others of its kind", async () => {
      const key = await newKey("many", { site: "many" })
      const many = await Promise.all(
        Array.from({ length: 10 }, (_, index) => aDaemon(server().url, { [header]: key }, `&name=many-${index}`))
      )
      const taken: Array<string> = []
      const jobs = 40
      const all = Deferred.unsafeMake<void>(FiberId.none)
      const running = many.map(async ({ acquire, calls }) => {
        for (;;) {
          const { job_id } = await acquire()
          taken.push(job_id)
          await Effect.runPromise(calls.CompleteJob({ job_id, type: { case: "template_import", value: {} } }))
          if (taken.length === jobs) Effect.runSync(Deferred.succeed(all, undefined))
        }
      })
      const ended = Promise.allSettled(running)
      const posted = await Promise.all(
        Array.from({ length: jobs }, () => aVersion(server(), {}, { provisioner: "terraform", tags: { site: "many" } }))
      )
      await Effect.runPromise(Deferred.await(all))
      await Promise.all(many.map(({ close }) => close()))
      await ended
      expect(taken.toSorted()).toStrictEqual(posted.map(({ job }) => job.id).toSorted())
    })

    it("hoards no jobs", async () => {
      const hoarder = await aDaemon(server().url, { [header]: await newKey("hoard", { site: "hoard" }) }, "&name=hoarder")
      const waits = Array.from({ length: 17 }, () => hoarder.acquire().then(String, () => "refused"))
      expect(await Promise.race(waits)).toBe("refused")
      await hoarder.close()
      expect(await Promise.all(waits)).toStrictEqual(waits.map(() => "refused"))
    })

    it.each([
      ["a frame of another version", new Uint8Array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0])],
      ["more than a window", new Uint8Array([0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])],
      ["a stream of the server's own", new Uint8Array([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0])]
    ])("is disconnected when it sends %s", async (_, bytes) => {
      const socket = new WebSocket(
        `${server().url.replace("http", "ws")}/api/v2/organizations/default/provisionerdaemons/serve?provisioner=echo&name=broken`,
        { headers: { [header]: secret } }
      )
      socket.on("error", () => {})
      await once(socket, "open")
      socket.send(bytes)
      const [code]: ReadonlyArray<unknown> = await once(socket, "close")
      expect(code).not.toBe(1011)
    })

    it("gets no job that is larger than a message, which fails", async () => {
      const version = await aVersion(
        server(),
        { readme: "x".repeat(4 * 1024 * 1024 - 2_000) },
        { provisioner: "terraform", tags: { site: "far" } }
      )
      await Effect.runPromise(Effect.ignore(Effect.promise(() => daemon.acquire().then(undefined, () => undefined))))
      expect((await getVersion(server(), version.id)).job).toMatchObject({
        status: "failed",
        error: "The job is larger than the 4 MiB that a daemon can be sent: its template's archive, its state and its values count."
      })
    })

    it("is disconnected when its key is deleted", async () => {
      const lost = await aDaemon(server().url, { [header]: await newKey("short", { site: "near" }) }, "&name=three")
      await vi.waitFor(
        async () => {
          const answer = await server().call("GET", `/organizations/default/provisionerdaemons?tags={"site":"near"}`, { token: owner() })
          expect(answer.text).toContain("three")
        },
        { timeout: 60_000 }
      )
      await server().call("DELETE", "/organizations/default/provisionerkeys/short", { token: owner() })
      await lost.closed
      await lost.close()
    })
  },
  { entitlements: { has: (feature) => ["external_provisioner_daemons", "template_rbac", "multiple_organizations"].includes(feature) } }
)
