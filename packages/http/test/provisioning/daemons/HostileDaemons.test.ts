/** Daemons that break the protocol, by mistake or on purpose. */
import { Packet, ProvisionerMessages } from "@atelier/agent-protocol"
import { Duration, Effect, Option, Schema } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aVersion, getVersion } from "../../../../../test/http/templates.js"
import { describeAgentsOnEach } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "./aDaemon.js"

type Daemon = Awaited<ReturnType<typeof aDaemon>>

const encoder = new TextEncoder()

const refusal = (call: Effect.Effect<unknown, unknown>) => Effect.runPromise(Effect.flip(call))

const completion = (job_id: string, value = {}) => ({ job_id, type: { case: "template_import", value } }) as const

const packet = (kind: keyof typeof Packet.Kind, messageId: number, data: string | Uint8Array): Uint8Array =>
  Packet.encode({ kind: Packet.Kind[kind], streamId: 1, messageId, data: typeof data === "string" ? encoder.encode(data) : data })

/** Writes bytes to a stream of its own. Returns how the call on it ended, or the stream, and the text of an error. */
const exchange = ({ session }: Daemon, packets: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    const stream = yield* session.open
    const decoder = new Packet.Decoder()
    // A stream may be reset before all is written
    yield* Effect.forkScoped(Effect.forEach(packets, (bytes) => stream.write(bytes), { discard: true }))
    for (;;) {
      const bytes = Option.getOrUndefined(yield* stream.read)
      if (bytes === undefined) return { ended: "end", text: "" }
      for (const found of decoder.decode(bytes)) {
        if (found.kind === Packet.Kind.Error) return { ended: "error", text: new TextDecoder().decode(found.data.subarray(8)) }
        if (found.kind === Packet.Kind.Close) return { ended: "close", text: "" }
        if (found.kind === Packet.Kind.Message) return { ended: "answer", text: "" }
      }
    }
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ ended: "reset", text: message })),
    Effect.scoped,
    Effect.runPromise
  )

/** Calls a method with the bytes of a message. */
const sent = (daemon: Daemon, method: string, message: Uint8Array) =>
  exchange(daemon, [
    packet("Invoke", 1, `/provisionerd.ProvisionerDaemon/${method}`),
    packet("Message", 2, message),
    packet("CloseSend", 3, "")
  ])

describeAgentsOnEach(
  "a daemon that breaks the protocol",
  (server, once) => {
    let secret: string
    let daemon: Daemon
    beforeAll(async () => {
      secret = await aKey(server(), "hostile", { site: "hostile" })
      daemon = await aDaemon(server().url, { [keyHeader]: secret }, "&name=hostile&version=1.18")
    })
    afterAll(() => daemon.close())

    const anImport = (site = "hostile") => aVersion(server(), {}, { provisioner: "terraform", tags: { site } })
    const statusOf = async (id: string) => (await getVersion(server(), id)).job.status
    const logOf = async (id: string) => (await server().call("GET", `/templateversions/${id}/logs`, { token: server().owner().token })).text

    once("cannot complete a job twice, nor report on it, charge it or fail it afterwards", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      await Effect.runPromise(daemon.calls.CompleteJob(completion(job_id)))
      const late = [
        daemon.calls.CompleteJob(completion(job_id)),
        daemon.calls.FailJob({ job_id, error: "late" }),
        daemon.calls.CommitQuota({ job_id, daily_cost: 1 }),
        daemon.calls.UpdateJob({ job_id, logs: [{ stage: "Plan", output: "a late line" }] })
      ]
      for (const call of late) expect(await refusal(call)).toMatchObject({ _tag: "RpcError" })
      expect([await statusOf(version.id), (await logOf(version.id)).includes("late")]).toStrictEqual(["succeeded", false])
    })

    it("that completes a job twice at once does so once", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const calls = Array.from({ length: 4 }, () => Effect.either(daemon.calls.CompleteJob(completion(job_id))))
      const answers = await Effect.runPromise(Effect.all(calls, { concurrency: 4 }))
      expect(answers.filter(({ _tag }) => _tag === "Right")).toHaveLength(1)
      expect(await statusOf(version.id)).toBe("succeeded")
    })

    once("cannot send a result larger than a message, and keeps its job", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const result = completion(job_id, { module_files: new Uint8Array(5 * 1024 * 1024) })
      expect(await refusal(daemon.calls.CompleteJob(result))).toMatchObject({ _tag: "CallFailed", reason: "message" })
      // Without the limits of the client's own
      const { ended } = await sent(daemon, "CompleteJob", await Effect.runPromise(ProvisionerMessages.CompletedJob.encode(result)))
      expect(ended).toBe("reset")
      expect(await statusOf(version.id)).toBe("running")
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "enough" }))
    })

    once("hears an error for messages and calls that do not decode, and keeps its connection", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const garbage = new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])
      for (const method of ["UpdateJob", "CompleteJob", "FailJob", "CommitQuota", "UploadFile"])
        expect([method, (await sent(daemon, method, garbage)).ended]).toStrictEqual([method, "error"])
      // Calls with a stream of answers end without one
      for (const method of ["DownloadFile", "AcquireJobWithCancel"])
        expect([method, (await sent(daemon, method, garbage)).ended]).toStrictEqual([method, "close"])
      expect((await sent(daemon, "Shutdown", new Uint8Array())).text).toContain("Shutdown")
      const invalid = encoder.encode("not a job \u{10FFFF}")
      expect((await sent(daemon, "UpdateJob", new Uint8Array([0x0a, invalid.length, ...invalid]))).ended).toBe("error")
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "enough" }))
      expect(await statusOf(version.id)).toBe("failed")
    })

    once("has the stream of a call reset that is no call, and keeps its connection", async () => {
      const broken = [
        ["a lower number of a message", [packet("Invoke", 5, "/provisionerd.ProvisionerDaemon/FailJob"), packet("Message", 4, "")]],
        ["a call twice", [packet("Invoke", 1, "/provisionerd.ProvisionerDaemon/FailJob"), packet("Invoke", 2, "")]],
        ["a number without an end", [new Uint8Array(16).fill(0xff)]]
      ] as const
      for (const [name, packets] of broken) expect([name, (await exchange(daemon, packets)).ended]).toStrictEqual([name, "reset"])
      expect(Duration.toMillis(await Effect.runPromise(daemon.session.ping))).toBeGreaterThanOrEqual(0)
    })

    once("that floods with reports is answered in turn, and the service answers others meanwhile", async () => {
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      const logs = Array.from({ length: 50 }, () => ({ level: "INFO", stage: "Plan", output: "x".repeat(1_000) }) as const)
      const reports = Effect.all(
        Array.from({ length: 80 }, () => daemon.calls.UpdateJob({ job_id, logs })),
        { concurrency: "unbounded" }
      )
      const flood = Effect.runPromise(reports)
      expect((await server().call("GET", "/users/me", { token: server().owner().token })).status).toBe(200)
      expect((await flood).every(({ canceled }) => !canceled)).toBe(true)
      await Effect.runPromise(daemon.calls.CompleteJob(completion(job_id)))
      expect((await getVersion(server(), version.id)).job).toMatchObject({ status: "succeeded", logs_overflowed: true })
      expect((await logOf(version.id)).length).toBeLessThan(2 * 1024 * 1024)
    })

    once("neither takes nor touches the job of another organization", async () => {
      const { token } = server().owner()
      const { name } = (await server().call("POST", "/organizations", { token, body: { name: "second" } })).as(
        Schema.Struct({ name: Schema.String })
      )
      const key = await aKey(server(), "foreign", { site: "hostile" }, name)
      const foreign = await aDaemon(server().url, { [keyHeader]: key }, "&name=foreign&version=1.18", name)
      const waiting = foreign.acquire().then(
        () => "a job",
        () => "none"
      )
      const version = await anImport()
      const { job_id } = await daemon.acquire()
      expect(job_id).toBe(version.job.id)
      for (const call of [
        foreign.calls.UpdateJob({ job_id, logs: [{ stage: "Plan", output: "a foreign line" }] }),
        foreign.calls.CompleteJob(completion(job_id)),
        foreign.calls.FailJob({ job_id, error: "a foreign end" })
      ])
        expect(await refusal(call)).toMatchObject({ _tag: "RpcError" })
      expect([await statusOf(version.id), (await logOf(version.id)).includes("foreign")]).toStrictEqual(["running", false])
      await Effect.runPromise(daemon.calls.CompleteJob(completion(job_id)))
      await foreign.close()
      expect(await waiting).toBe("none")
    })

    once("whose key was deleted completes the job that it has, and is disconnected then", async () => {
      const key = await aKey(server(), "leaving", { site: "leaving" })
      const leaving = await aDaemon(server().url, { [keyHeader]: key }, "&name=leaving&version=1.18")
      const version = await anImport("leaving")
      const { job_id } = await leaving.acquire()
      const { status } = await server().call("DELETE", "/organizations/default/provisionerkeys/leaving", { token: server().owner().token })
      expect(status).toBe(204)
      expect(await Effect.runPromise(leaving.calls.UpdateJob({ job_id }))).toMatchObject({ canceled: false })
      // Where it asks for another job before, it gets none
      const next = await anImport("leaving")
      expect(await refusal(leaving.calls.AcquireJob({}))).toMatchObject({ _tag: "RpcError" })
      await Effect.runPromise(leaving.calls.CompleteJob(completion(job_id)))
      expect([await statusOf(version.id), await statusOf(next.id)]).toStrictEqual(["succeeded", "pending"])
      // At once, and not when rights are judged again
      const began = performance.now()
      await leaving.closed
      expect(performance.now() - began).toBeLessThan(10_000)
      await leaving.close()
    })
  },
  { entitlements: { has: (feature) => feature === "external_provisioner_daemons" || feature === "multiple_organizations" } }
)
