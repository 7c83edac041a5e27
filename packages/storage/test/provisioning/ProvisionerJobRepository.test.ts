import { Ids, Timestamp, Uuid, Worker } from "@atelier/core/platform"
import {
  type Claim,
  daemonCleaner,
  type ProvisionerDaemon,
  ProvisionerDaemonRepository,
  JobLogRepository,
  JobQueueRepository,
  ProvisionerJobRepository,
  untagged
} from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, TestClock } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { aDaemon, aFreshOrganization, aWaitingJob, prebuildsUser } from "../../../../test/records/jobs.js"
import { runtime } from "../../../../test/store/services.js"
import { chosenPlanOf, statementsOf } from "../../../../test/store/statements.js"
import { Statements } from "../../src/platform/Statements.js"

const claimFor = (daemon: ProvisionerDaemon) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const now = yield* Timestamp.now
    const claim: Claim = {
      organization_id: daemon.organization_id,
      provisioners: daemon.provisioners,
      tags: daemon.tags,
      worker_id: daemon.id,
      claim_id: yield* ids.next,
      now,
      lease_expires_at: Timestamp.plus(now, "15 seconds")
    }
    return claim
  })

const acquire = (daemon: ProvisionerDaemon) =>
  Effect.gen(function* () {
    const queue = yield* JobQueueRepository
    const job = yield* queue.acquire(yield* claimFor(daemon))
    return Option.getOrUndefined(job)
  })

/** Jobs like another one, each with an id of its own. */
const copies = (id: Uuid.Uuid, count: number) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const fresh = sql.dialect({
      postgres: () => sql`gen_random_uuid()`,
      sqlite: () =>
        sql`substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-' || substr(hex, 13, 4) || '-' || substr(hex, 17, 4) || '-' || substr(hex, 21)`
    })
    const columns = sql.literal(
      `created_at, updated_at, error, error_code, organization_id, initiator_id, provisioner, type, file_id, input, tags, attempts, unrepeatable,
        logs_length, logs_overflowed`
    )
    const hex = sql.dialect({ postgres: () => sql`''`, sqlite: () => sql`lower(hex(randomblob(16)))` })
    yield* sql`WITH RECURSIVE numbers (n, hex) AS (SELECT 1, ${hex} UNION ALL SELECT n + 1, ${hex} FROM numbers WHERE n < ${sql.literal(String(count))})
      INSERT INTO provisioner_jobs (id, ${columns})
      SELECT ${fresh}, ${columns} FROM numbers, provisioner_jobs WHERE provisioner_jobs.id = ${id}`
  })

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the queue of jobs on ${name}`, (it) => {
    it.effect("hands each job to one of fifty concurrent daemons", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id })
        const jobs = yield* Effect.replicateEffect(aWaitingJob({ organization_id }), 20)
        const taken = yield* Effect.all(
          Array.from({ length: 50 }, () => acquire(daemon)),
          { concurrency: "unbounded" }
        )
        const ids = taken.flatMap((job) => job?.id ?? [])
        expect(new Set(ids)).toStrictEqual(new Set(jobs.map(({ id }) => id)))
        expect(ids.length).toBe(20)
        expect(yield* acquire(daemon)).toBeUndefined()
      })
    )

    it.effect("gives the oldest job first, and those of prebuilt workspaces last", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id })
        const prebuild = yield* aWaitingJob({ organization_id, initiator_id: prebuildsUser, created_at: Timestamp.fromMillis(1_000) })
        const second = yield* aWaitingJob({ organization_id, created_at: Timestamp.fromMillis(3_000) })
        const first = yield* aWaitingJob({ organization_id, created_at: Timestamp.fromMillis(2_000) })
        const order = [yield* acquire(daemon), yield* acquire(daemon), yield* acquire(daemon)].map((job) => job?.id)
        expect(order).toStrictEqual([first.id, second.id, prebuild.id])
      })
    )

    it.effect("is read in its order from an index, so that its length does not matter", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id })
        const { id } = yield* aWaitingJob({ organization_id })
        const planned = (count: number) =>
          Effect.gen(function* () {
            yield* copies(id, count)
            const { statements, value } = yield* statementsOf(acquire(daemon))
            expect(value?.organization_id).toBe(organization_id)
            return yield* Effect.forEach(statements, chosenPlanOf)
          })
        const plans = yield* planned(8_000)
        // SQLite plans without statistics, as the server collects none there
        yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
        plans.push(...(yield* planned(1)))
        expect(plans.length).toBe(2)
        for (const plan of plans) {
          expect(plan).toContain("provisioner_jobs_waiting")
          expect(plan).not.toMatch(/Sort|TEMP B-TREE|Seq Scan on provisioner_jobs/)
        }
        yield* sql`DELETE FROM provisioner_jobs WHERE organization_id = ${organization_id}`
      })
    )

    it.effect("lists the jobs that have not ended without a look at those that have", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const repository = yield* ProvisionerJobRepository
        const organization_id = yield* aFreshOrganization
        const ended = yield* aWaitingJob({ organization_id })
        yield* copies(ended.id, 2_000)
        yield* sql`UPDATE provisioner_jobs SET completed_at = created_at WHERE organization_id = ${organization_id}`
        const waiting = yield* aWaitingJob({ organization_id })
        yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
        for (const status of [["pending"], ["pending", "running", "canceling"]] as const) {
          const { statements, value } = yield* statementsOf(repository.list({ organization_id, status, limit: 50 }))
          expect(value.map(({ id }) => id)).toStrictEqual([waiting.id])
          const plans = yield* Effect.forEach(statements, chosenPlanOf)
          expect(plans.join("\n")).toMatch(/provisioner_jobs_(active|leased|waiting|by_worker)/)
        }
        yield* sql`DELETE FROM provisioner_jobs WHERE organization_id = ${organization_id}`
      })
    )

    it.effect("gives a job to daemons of its organization, kind and tags only", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        const tagged = { ...untagged, a: "1" }
        const job = yield* aWaitingJob({ organization_id, tags: tagged, provisioner: "terraform" })
        const others: ReadonlyArray<Partial<ProvisionerDaemon>> = [
          { organization_id: yield* aFreshOrganization, tags: tagged },
          { tags: untagged },
          { tags: { ...untagged, a: "2" } },
          { tags: tagged, provisioners: ["echo"] }
        ]
        for (const fields of others) expect(yield* acquire(yield* aDaemon({ organization_id, ...fields }))).toBeUndefined()
        expect((yield* acquire(yield* aDaemon({ organization_id, tags: { ...tagged, more: "x" } })))?.id).toBe(job.id)
        const plain = yield* aWaitingJob({ organization_id })
        expect(yield* acquire(yield* aDaemon({ organization_id, tags: tagged }))).toBeUndefined()
        expect((yield* acquire(yield* aDaemon({ organization_id })))?.id).toBe(plain.id)
      })
    )

    it.effect("is shown with the best place among live daemons, and the largest queue", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const queue = yield* JobQueueRepository
        const organization_id = yield* aFreshOrganization
        const tagged = { ...untagged, queue: organization_id }
        yield* aDaemon({ organization_id, tags: tagged })
        yield* aDaemon({ organization_id, tags: { ...tagged, big: "yes" } })
        yield* aDaemon({ organization_id, tags: { ...tagged, dead: "yes" }, last_seen_at: Timestamp.fromMillis(0) })
        const at = (millis: number, tags: Readonly<Record<string, string>>) =>
          aWaitingJob({ organization_id, tags, created_at: Timestamp.fromMillis(millis) })
        const big = yield* at(1_000, { ...tagged, big: "yes" })
        const plain = yield* at(2_000, tagged)
        const dead = yield* at(3_000, { ...tagged, dead: "yes" })
        const now = yield* Timestamp.now
        const places = yield* queue.queuePlaces([big.id, plain.id, dead.id], Timestamp.minus(now, Duration.seconds(90)))
        // The plain job is the first of what plain daemons take, though the second of what big ones take
        expect(new Map(places.map(({ id, queue_position, queue_size }) => [id, [queue_position, queue_size]]))).toStrictEqual(
          new Map([
            [big.id, [1, 2]],
            [plain.id, [1, 2]]
          ])
        )
      })
    )

    it.effect("counts the daemons that fit a job: those ever seen, and the live ones", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const queue = yield* JobQueueRepository
        const organization_id = yield* aFreshOrganization
        const tags = { ...untagged, a: "1" }
        const job = yield* aWaitingJob({ organization_id, tags })
        const none = yield* aWaitingJob({ organization_id, tags: { ...untagged, b: "1" } })
        const alive = yield* aDaemon({ organization_id, tags })
        yield* aDaemon({ organization_id, tags, last_seen_at: Timestamp.fromMillis(0) })
        yield* aDaemon({ organization_id, tags, last_seen_at: null })
        yield* aDaemon({ organization_id })
        const now = yield* Timestamp.now
        const matched = yield* queue.matchedProvisioners([job.id, none.id], Timestamp.minus(now, "90 seconds"))
        expect(new Map(matched.map(({ job_id, ...counts }) => [job_id, counts]))).toStrictEqual(
          new Map([
            [job.id, { count: 2, available: 1, most_recently_seen: alive.last_seen_at }],
            [none.id, { count: 0, available: 0, most_recently_seen: null }]
          ])
        )
        const available = yield* queue.availableWorkers([job.id])
        expect(available.length).toBe(3)
        const live = yield* queue.availableWorkers([job.id], Timestamp.minus(now, "90 seconds"))
        expect(live).toStrictEqual([{ job_id: job.id, daemon_id: alive.id, engines: null }])
      })
    )

    it.effect("is found among more ids than a statement has parameters", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerJobRepository
        const queue = yield* JobQueueRepository
        const daemons = yield* ProvisionerDaemonRepository
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id })
        const job = yield* aWaitingJob({ organization_id })
        const many = Array.from({ length: 70_000 }, (_, index) =>
          Uuid.Uuid.make(`00000000-0000-4000-8000-${String(index).padStart(12, "0")}`)
        )
        const ids = [...many, job.id]
        expect((yield* repository.byIds(ids)).map(({ id }) => id)).toStrictEqual([job.id])
        expect((yield* repository.metadataOf(ids)).map(({ id }) => id)).toStrictEqual([job.id])
        expect((yield* queue.deploymentQueue(ids)).places.map(({ id }) => id)).toStrictEqual([job.id])
        expect((yield* queue.queuePlaces(ids, Timestamp.never)).map(({ id }) => id)).toStrictEqual([job.id])
        expect(yield* queue.availableWorkers(ids)).toStrictEqual([{ job_id: job.id, daemon_id: daemon.id, engines: null }])
        expect((yield* queue.matchedProvisioners(ids, Timestamp.never)).map(({ job_id }) => job_id)).toStrictEqual([job.id])
        expect((yield* daemons.names([...many, daemon.id])).map(({ id }) => id)).toStrictEqual([daemon.id])
      })
    )

    it.effect("filters a list by everything it can be filtered by, newest first", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerJobRepository
        const organization_id = yield* aFreshOrganization
        const now = yield* Timestamp.now
        const make = (millis: number, fields: Partial<Parameters<typeof aWaitingJob>[0]>) =>
          aWaitingJob({ organization_id, created_at: Timestamp.fromMillis(millis), ...fields })
        const pending = yield* make(1, {})
        const running = yield* make(2, { started_at: now, tags: { ...untagged, a: "1", b: "2" } })
        const canceling = yield* make(3, { started_at: now, canceled_at: now })
        const succeeded = yield* make(4, { started_at: now, completed_at: now })
        const canceled = yield* make(5, { canceled_at: now, completed_at: now })
        const failed = yield* make(6, { started_at: now, canceled_at: now, completed_at: now, error: "broken" })
        const list = (filter: Omit<Parameters<typeof repository.list>[0], "organization_id" | "limit">, limit = 0) =>
          Effect.map(repository.list({ organization_id, limit, ...filter }), (jobs) => jobs.map(({ id }) => id))
        const all: ReadonlyArray<Uuid.Uuid> = [failed.id, canceled.id, succeeded.id, canceling.id, running.id, pending.id]
        expect(yield* list({})).toStrictEqual(all)
        expect(yield* list({}, 2)).toStrictEqual(all.slice(0, 2))
        expect(yield* list({ status: ["pending"] })).toStrictEqual([pending.id])
        expect(yield* list({ status: ["running", "canceling"] })).toStrictEqual([canceling.id, running.id])
        expect(yield* list({ status: ["succeeded", "canceled", "failed"] })).toStrictEqual(all.slice(0, 3))
        expect(yield* list({ status: ["unknown"] })).toStrictEqual([])
        expect(yield* list({ ids: [failed.id, pending.id] })).toStrictEqual([failed.id, pending.id])
        expect(yield* list({ initiator_id: running.initiator_id })).toStrictEqual([running.id])
        expect(yield* list({ tags: { a: "1" } })).toStrictEqual([running.id])
        expect((yield* list({ tags: untagged })).length).toBe(5)
      })
    )

    it.effect("keeps a claim for its holder only", () =>
      Effect.gen(function* () {
        const queue = yield* JobQueueRepository
        const ids = yield* Ids
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id })
        const { id } = yield* aWaitingJob({ organization_id })
        const claim = yield* claimFor(daemon)
        yield* queue.acquire(claim)
        const later = Timestamp.plus(claim.now, "10 seconds")
        const until = Timestamp.plus(later, "15 seconds")
        expect(yield* queue.renew(id, yield* ids.next, later, until)).toStrictEqual(Option.none())
        expect(yield* queue.renew(id, claim.claim_id, later, until)).toStrictEqual(Option.some({ canceled_at: null }))
        expect(yield* queue.withExpiredLease(Timestamp.plus(claim.now, "20 seconds"), 10)).not.toContain(id)
        expect(yield* queue.withExpiredLease(until, 1_000)).toContain(id)
      })
    )

    it.effect("stores rows of a log in their order, and answers where they begin", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerJobRepository
        const logs = yield* JobLogRepository
        const { id } = yield* aWaitingJob({ organization_id: yield* aFreshOrganization })
        const row = (output: string) => ({
          created_at: Timestamp.fromMillis(0),
          log_source: "provisioner" as const,
          log_level: "info" as const,
          stage: "Planning",
          output
        })
        const first = yield* logs.append(id, [row("a"), row("b")], 2, false)
        yield* logs.append(id, [row("c")], 3, true)
        const rows = yield* logs.after(id, 0, 10)
        expect(rows.map(({ output }) => output)).toStrictEqual(["a", "b", "c"])
        expect(first).toStrictEqual(Option.some(rows[0]?.id))
        expect((yield* logs.after(id, rows[1]?.id ?? 0, 10)).map(({ output }) => output)).toStrictEqual(["c"])
        expect(Option.map(yield* repository.byId(id), (job) => [job.logs_length, job.logs_overflowed])).toStrictEqual(
          Option.some([3, true])
        )
        expect(yield* logs.append(id, [], 3, true)).toStrictEqual(Option.none())
      })
    )
  })

  layer(Layer.merge(database, runtime))(`daemons on ${name}`, (it) => {
    it.effect("that reconnect keep their id, and update their row", () =>
      Effect.gen(function* () {
        const organization_id = yield* aFreshOrganization
        const daemon = yield* aDaemon({ organization_id, name: "host-0" })
        const again = yield* aDaemon({ organization_id, name: "host-0", version: "v2.0.0" })
        expect(again).toStrictEqual({ ...daemon, version: "v2.0.0", last_seen_at: again.last_seen_at })
        const another = yield* aDaemon({ organization_id, name: "host-0", tags: { scope: "user", owner: "x" } })
        expect(another.id).not.toBe(daemon.id)
      })
    )

    it.effect("of two processes on one host have separate rows", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerDaemonRepository
        const ids = yield* Ids
        const organization_id = yield* aFreshOrganization
        const template = yield* aDaemon({ organization_id })
        const [first, second] = [yield* ids.next, yield* ids.next]
        const register = (process_id: Uuid.Uuid) =>
          Effect.gen(function* () {
            const now = yield* Timestamp.now
            const daemon = { ...template, id: yield* ids.next, name: "shared-0", last_seen_at: now }
            const registered = yield* repository.registerEmbedded(daemon, {
              process_id,
              engines: [],
              free_since: Timestamp.minus(now, "90 seconds")
            })
            return Option.getOrUndefined(registered)?.id
          })
        const row = yield* register(first)
        expect(row).toBeDefined()
        expect(yield* register(second)).toBeUndefined()
        yield* repository.release(first)
        expect(yield* register(second)).toBe(row)
        expect(yield* register(first)).toBeUndefined()
        yield* TestClock.adjust("90 seconds")
        expect(yield* register(first)).toBe(row)
      })
    )

    it.effect("are busy, idle or offline, with their current and last job", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerDaemonRepository
        const organization_id = yield* aFreshOrganization
        const now = yield* Timestamp.now
        const long = Timestamp.minus(now, "91 seconds")
        const idle = yield* aDaemon({ organization_id, created_at: Timestamp.fromMillis(1) })
        const busy = yield* aDaemon({ organization_id, created_at: Timestamp.fromMillis(2), last_seen_at: long })
        const offline = yield* aDaemon({ organization_id, created_at: Timestamp.fromMillis(3), last_seen_at: long })
        const current = yield* aWaitingJob({ organization_id, worker_id: busy.id, started_at: now })
        const done = { organization_id, worker_id: idle.id, started_at: now }
        yield* aWaitingJob({ ...done, completed_at: Timestamp.minus(now, "1 hour") })
        const last = yield* aWaitingJob({ ...done, completed_at: now })
        const list = (statuses: ReadonlyArray<"busy" | "idle" | "offline">, more: { readonly seen_since?: Timestamp.Timestamp } = {}) =>
          repository.list({ organization_id, statuses, alive_since: Timestamp.minus(now, "90 seconds"), limit: 0, ...more })
        const all = yield* list(["busy", "idle", "offline"])
        expect(all.map(({ current_job_id, id, previous_job_id }) => [id, current_job_id, previous_job_id])).toStrictEqual([
          [offline.id, null, null],
          [busy.id, current.id, null],
          [idle.id, null, last.id]
        ])
        expect((yield* list(["idle"])).map(({ id }) => id)).toStrictEqual([idle.id])
        expect((yield* list(["offline"], { seen_since: Timestamp.minus(now, "1 minute") })).length).toBe(0)
      })
    )

    it.effect("are forgotten without heartbeats, unless they have a job", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerDaemonRepository
        const organization_id = yield* aFreshOrganization
        const now = yield* Timestamp.now
        const old = { organization_id, last_seen_at: Timestamp.minus(now, "8 days") }
        const gone = yield* aDaemon(old)
        const busy = yield* aDaemon(old)
        const recent = yield* aDaemon({ organization_id })
        yield* aWaitingJob({ organization_id, worker_id: busy.id, started_at: now })
        yield* Worker.runOnce(daemonCleaner)
        const left = (yield* repository.names([gone.id, busy.id, recent.id])).map(({ id }) => id)
        expect(new Set(left)).toStrictEqual(new Set([busy.id, recent.id]))
      })
    )
  })
}
