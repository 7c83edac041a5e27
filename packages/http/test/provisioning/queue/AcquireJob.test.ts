/** How long a call of an old daemon waits for a job. templates-and-provisioning.md §8.3. */
import { ProvisionerMessages } from "@atelier/agent-protocol"
import { Ids, Timestamp } from "@atelier/core/platform"
import type { RemoteJob } from "@atelier/core/provisioning"
import { NodeCryptography } from "@atelier/node"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import * as DaemonHandlers from "../../../src/daemonRpc/DaemonHandlers.js"

const services = Layer.provide(Ids.layer, NodeCryptography.layer)

type Daemon = Parameters<typeof DaemonHandlers.make>[0]

/** Calls AcquireJob. Returns the bytes of its answer. */
const acquired = (acquire: Daemon["acquire"]) =>
  Effect.gen(function* () {
    const service = yield* DaemonHandlers.make({
      acquire,
      storeModules: () => Effect.dieMessage("no modules are sent here"),
      modules: () => Effect.succeedNone,
      remains: () => Effect.dieMessage("no remains are judged here")
    })
    const call = service.procedureOf("/provisionerd.ProvisionerDaemon/AcquireJob")
    if (call === undefined) return yield* Effect.dieMessage("there is no AcquireJob")
    const sent: Array<Uint8Array> = []
    yield* call({
      call: { rpc: "AcquireJob", metadata: new Map() },
      receive: Effect.succeedSome(new Uint8Array()),
      send: (messages) => Effect.sync(() => void sent.push(...messages))
    })
    return sent
  })

it.scoped("a call without a job is answered with an empty one after five seconds", () =>
  Effect.gen(function* () {
    const calling = yield* Effect.fork(acquired(() => Effect.never))
    yield* TestClock.adjust("4999 millis")
    expect(yield* Fiber.poll(calling)).toStrictEqual(Option.none())
    yield* TestClock.adjust("1 millis")
    const [answer = new Uint8Array([1])] = yield* Fiber.join(calling)
    expect((yield* ProvisionerMessages.AcquiredJob.decode(answer)).job_id).toBe("")
  }).pipe(Effect.provide(services))
)

it.scoped("a job that is taken in time is answered however long its source takes to read", () =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const id = yield* (yield* Ids).next
    const job = {
      id,
      created_at: now,
      updated_at: now,
      started_at: now,
      canceled_at: null,
      completed_at: null,
      error: "",
      error_code: "",
      organization_id: id,
      initiator_id: id,
      provisioner: "echo",
      type: "template_version_import",
      file_id: id,
      input: {},
      tags: {},
      worker_id: id,
      logs_length: 0,
      logs_overflowed: false,
      claim_id: id,
      lease_expires_at: now,
      attempts: 1,
      unrepeatable: false,
      initiator_username: "ada"
    } as const
    const nothing = Effect.dieMessage("the job does not go on here")
    const remote: RemoteJob = {
      job,
      source: Effect.delay(Effect.succeed(new Uint8Array([7])), "1 minute"),
      modules: Effect.succeedNone,
      input: Effect.succeedNone,
      heard: nothing,
      log: () => nothing,
      parsed: () => nothing,
      charge: () => nothing,
      complete: () => nothing,
      fail: () => nothing,
      leave: Effect.void
    }
    const calling = yield* Effect.fork(acquired((handOver) => Effect.delay(handOver(remote), "4 seconds")))
    yield* TestClock.adjust("30 seconds")
    expect(yield* Fiber.poll(calling)).toStrictEqual(Option.none())
    yield* TestClock.adjust("34 seconds")
    const [answer = new Uint8Array()] = yield* Fiber.join(calling)
    expect(yield* ProvisionerMessages.AcquiredJob.decode(answer)).toMatchObject({ job_id: id, user_name: "ada" })
  }).pipe(Effect.provide(services))
)
