import {
  DrpcClient,
  type ProvisionerDaemonClient,
  ProvisionerDaemonService,
  type ProvisionerMessages,
  Session
} from "@atelier/agent-protocol"
import { Effect, Exit, Option, Schema, Scope, Stream } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { connect, emptyTraffic } from "../../../agent/src/WebSocketTransport.js"
import { aVersion, getVersion } from "../../../../test/templates.js"
import { describeAgents } from "../agents/AgentServer.js"

const Key = Schema.Struct({ key: Schema.String })
const Identified = Schema.Struct({ id: Schema.String })
const Job = Schema.Struct({ job: Schema.Struct({ id: Schema.String, status: Schema.String, error: Schema.optional(Schema.String) }) })
const Build = Schema.Struct({ latest_build: Schema.Struct({ id: Schema.String, status: Schema.String, ...Job.fields }) })
type Acquired = Effect.Effect.Success<ReturnType<ProvisionerDaemonClient["AcquireJob"]>>

/** A daemon of another program, as far as it is needed to talk. */
const aDaemon = async (url: string, headers: Readonly<Record<string, string>>, query: string) => {
  const scope = Effect.runSync(Scope.make())
  const session = await Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(`${url.replace("http", "ws")}/api/v2/organizations/default/provisionerdaemons/serve?provisioner=terraform${query}`),
      headers,
      traffic: emptyTraffic()
    })
    return yield* Session.make(transport, { role: "client" })
  }).pipe(Scope.extend(scope), Effect.runPromise)
  const calls = DrpcClient.make(ProvisionerDaemonService, session)
  return {
    calls,
    closed: Effect.runPromise(Effect.ignore(session.closed)),
    /** Waits for a job, with the stream of requests open. */
    acquire: (): Promise<Acquired> => Effect.runPromise(Effect.flatten(Stream.runHead(calls.AcquireJobWithCancel(Stream.never)))),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

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
    const header = "Service-Provisioner-Daemon-Key"

    const newKey = async (name: string, tags: Readonly<Record<string, string>>): Promise<string> =>
      (await server().call("POST", "/organizations/default/provisionerkeys", { token: owner(), body: { name, tags } })).as(Key).key

    beforeAll(async () => {
      secret = await newKey("far", { site: "far" })
      daemon = await aDaemon(server().url, { [header]: secret }, "&name=one&version=1.18")
    })
    afterAll(() => daemon.close())

    const anImport = () => aVersion(server(), {}, { provisioner: "terraform", tags: { site: "far" } })

    it("imports a version whose tags are those of its key, and builds a workspace of it", async () => {
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
      expect(await Effect.runPromise(daemon.calls.CommitQuota({ job_id: build.job_id, daily_cost: 2 }))).toMatchObject({ ok: true })
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

    it("is disconnected when its key is deleted", async () => {
      const lost = await aDaemon(server().url, { [header]: await newKey("short", { site: "near" }) }, "&name=three")
      await vi.waitFor(async () => {
        const answer = await server().call("GET", `/organizations/default/provisionerdaemons?tags={"site":"near"}`, { token: owner() })
        expect(answer.text).toContain("three")
      })
      await server().call("DELETE", "/organizations/default/provisionerkeys/short", { token: owner() })
      await lost.closed
      await lost.close()
    })
  },
  { entitlements: { has: (feature) => feature === "external_provisioner_daemons" } }
)
