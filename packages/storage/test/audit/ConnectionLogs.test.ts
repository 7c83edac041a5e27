import {
  abandonedEnder,
  type ConnectedAgent,
  ConnectionLogRepository,
  type ConnectionReport,
  ConnectionLogs,
  maximumNotes
} from "@atelier/core/logs"
import { ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, type Uuid, Worker } from "@atelier/core/platform"
import { expect, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Scope, TestClock } from "effect"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { databases, sqlite } from "../../../../test/store/databases.js"
import { poisoned } from "../../../../test/store/poison.js"
import { runtime } from "../../../../test/store/services.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

/** An agent of a stored workspace. */
const anAgent = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* (yield* OrganizationRepository).insert(organization)
  const user = yield* aUser()
  yield* (yield* UserRepository).insert(user, null)
  const template = yield* storedTemplate({ organization_id: organization.id, created_by: user.id })
  const { workspace } = yield* storedWorkspace(template, user.id)
  const agent: ConnectedAgent = {
    organization_id: organization.id,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    workspace_owner_id: user.id,
    agent_name: "main"
  }
  return agent
})

const reportOf = (agent: ConnectedAgent, fields: Partial<ConnectionReport> & Pick<ConnectionReport, "connection_id" | "action">) =>
  Effect.map(Timestamp.now, (time): ConnectionReport => ({
    ...agent,
    type: "ssh",
    time,
    ip: "10.0.0.1",
    code: null,
    reason: "",
    ...fields
  }))

const aReplica = { hostname: "other", relay_address: "", region_id: 0, error: "", database_latency: 0 }

const rowsOf = ({ workspace_id }: ConnectedAgent) =>
  Effect.flatMap(
    Statements,
    (sql) =>
      sql`SELECT type, connect_time, disconnect_time, disconnect_reason, code, slug_or_port FROM connection_logs
        WHERE workspace_id = ${workspace_id} ORDER BY connect_time`
  )

/** How many entries are stored now, after whatever else is due. */
const storedOf = (agent: ConnectedAgent) =>
  Effect.zipRight(
    Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
    Effect.map(rowsOf(agent), (rows) => rows.length)
  )

const connectionsOf = ({ workspace_id }: ConnectedAgent) =>
  Effect.flatMap(Statements, (sql) =>
    Effect.map(sql`SELECT connection_id FROM connection_logs WHERE workspace_id = ${workspace_id}`, (rows) =>
      rows.map((row) => ("connection_id" in row ? String(row["connection_id"]) : ""))
    )
  )

for (const [name, database] of databases) {
  const services = Layer.merge(ConnectionLogs.layer, Replicas.layer).pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(services)(`the connection log on ${name}`, (it) => {
    it.effect("merges the end of a connection with its beginning", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const connection_id = yield* (yield* Ids).next
        const begun = yield* Timestamp.now
        yield* logs.report(yield* reportOf(agent, { connection_id, action: "connect" }))
        yield* TestClock.adjust("1 minute")
        const ended = yield* Timestamp.now
        yield* logs.report(yield* reportOf(agent, { connection_id, action: "disconnect", code: 3, reason: "bye" }))
        yield* TestClock.adjust("1 minute")
        yield* logs.report(yield* reportOf(agent, { connection_id, action: "disconnect", code: 4, reason: "again" }))
        expect(yield* rowsOf(agent)).toStrictEqual([
          { type: "ssh", connect_time: begun, disconnect_time: ended, disconnect_reason: "bye", code: 3, slug_or_port: null }
        ])
      })
    )

    it.effect("notes no more visits than may wait for the store", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const visit = (port: number) =>
          logs.note({ ...agent, type: "port_forwarding", user_id: null, ip: null, user_agent: "", slug_or_port: String(port), code: 200 })
        // None of them is stored before the last one is asked for
        const excess = Array.from({ length: maximumNotes + 10 }, (_, port) => port)
        yield* Effect.withMaxOpsBeforeYield(Effect.forEach(excess, visit, { discard: true }), Number.MAX_SAFE_INTEGER)
        yield* storedOf(agent).pipe(Effect.repeat({ until: (stored) => stored === maximumNotes }))
        // There is room again, as soon as the service knows that they are stored
        yield* Effect.zipRight(visit(maximumNotes + 20), storedOf(agent)).pipe(Effect.repeat({ until: (stored) => stored > maximumNotes }))
      })
    )

    it.effect("ends the sessions of a process that is gone, and of no other one", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const repository = yield* ConnectionLogRepository
        const replicas = yield* ReplicaRepository
        const { id: mine } = yield* Replicas
        const [agent, ids] = [yield* anAgent, yield* Ids]
        const beat = (id: Uuid.Uuid) =>
          Effect.flatMap(Timestamp.now, (now) => replicas.put({ ...aReplica, id, created_at: now, updated_at: now }))
        const session = Effect.gen(function* () {
          const { organization_id, workspace_owner_id } = agent
          const logged = { ...agent, type: "ssh", user_id: workspace_owner_id, ip: null, user_agent: "", disconnect_time: null } as const
          return { ...logged, organization_id, connection_id: yield* ids.next, connect_time: yield* Timestamp.now }
        })
        const carriedBy = (replica_id: Uuid.Uuid | null) =>
          Effect.gen(function* () {
            const entry = { ...(yield* session), id: yield* ids.next, code: null, slug_or_port: null, disconnect_reason: null, replica_id }
            yield* repository.upsert([entry])
            return entry.connection_id
          })
        const endOf = (id: Uuid.Uuid) =>
          Effect.flatMap(Statements, (sql) =>
            Effect.map(sql`SELECT disconnect_time FROM connection_logs WHERE connection_id = ${id}`, ([row]) => row?.["disconnect_time"])
          )
        const ends = (since: Timestamp.Timestamp, now: Timestamp.Timestamp) =>
          repository.endAbandoned({ own: mine, since, now, reason: "gone", limit: 10 })
        const [crashed, alive, unknown] = [yield* ids.next, yield* ids.next, yield* ids.next]
        yield* beat(crashed)
        const last = yield* Timestamp.now
        const own = yield* session
        yield* logs.recordSessions([own])
        const of = [yield* carriedBy(crashed), yield* carriedBy(alive), yield* carriedBy(unknown), yield* carriedBy(null)]
        yield* TestClock.adjust("30 seconds")
        const begun = yield* Timestamp.now
        const later = yield* carriedBy(crashed)
        yield* beat(alive)
        // Of those whose process is not known, too, only what has begun before counts
        expect(yield* ends(last, begun)).toBe(0)
        yield* TestClock.adjust("2 minutes")
        yield* beat(alive)
        const now = yield* Timestamp.now
        expect(yield* ends(Timestamp.minus(now, "1 minute"), now)).toBe(3)
        const ended = yield* Effect.forEach([...of, later, own.connection_id], endOf)
        expect(ended.map((end) => (end === null ? null : String(end)))).toStrictEqual([last, null, now, null, begun, null])

        // The worker does the same by itself, once the other process has been silent for long enough
        const lastly = yield* carriedBy(alive)
        yield* Worker.runOnce(abandonedEnder)
        expect(yield* endOf(lastly)).toBeNull()
        const { announce } = yield* Replicas
        // A process that does not tell of itself takes no other one for gone
        yield* Effect.scoped(Effect.zipRight(announce, Effect.zipRight(TestClock.adjust("10 minutes"), Worker.runOnce(abandonedEnder))))
        expect([yield* endOf(lastly), yield* endOf(own.connection_id)]).toStrictEqual([expect.anything(), null])
      })
    )

    it.effect("shows a connection with an unknown beginning", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const connection_id = yield* (yield* Ids).next
        const begun = yield* Timestamp.now
        const connect = yield* reportOf(agent, { connection_id, action: "connect" })
        yield* TestClock.adjust("1 minute")
        const ended = yield* Timestamp.now
        yield* logs.report(yield* reportOf(agent, { connection_id, action: "disconnect" }))
        expect(yield* rowsOf(agent)).toMatchObject([{ connect_time: ended, disconnect_time: ended }])
        yield* logs.report(connect)
        expect(yield* rowsOf(agent)).toMatchObject([{ connect_time: begun, disconnect_time: ended }])
      })
    )

    it.effect("stores reports of many agents at once, each before its reporter is answered", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const ids = yield* Ids
        yield* Effect.forEach(
          Array.from({ length: 50 }),
          () =>
            Effect.gen(function* () {
              const connection_id = yield* ids.next
              yield* logs.report(yield* reportOf(agent, { connection_id, action: "connect" }))
              yield* logs.report(yield* reportOf(agent, { connection_id, action: "disconnect" }))
            }),
          { concurrency: "unbounded", discard: true }
        )
        const rows = yield* rowsOf(agent)
        expect(rows).toHaveLength(50)
        expect(rows.every((row) => "disconnect_time" in row && row["disconnect_time"] !== null)).toBe(true)
      })
    )

    it.effect("stores the others beside a report that cannot be stored", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const reports = yield* Effect.forEach(["one", "poison", "other", "last"], (agent_name) =>
          Effect.flatMap(
            Effect.flatMap(Ids, ({ next }) => next),
            (connection_id) => reportOf({ ...agent, agent_name }, { connection_id, action: "connect" })
          )
        )
        yield* poisoned("connection_logs", "agent_name", "poison")
        const telling = yield* Effect.fork(
          Effect.forEach(reports, (report) => Effect.exit(logs.report(report)), { concurrency: "unbounded" })
        )
        for (let exit = yield* Fiber.poll(telling); Option.isNone(exit); exit = yield* Fiber.poll(telling)) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          yield* TestClock.adjust("1 second")
        }
        expect((yield* Fiber.join(telling)).map(Exit.isSuccess)).toStrictEqual([true, false, true, true])
        expect(yield* storedOf(agent)).toBe(3)
      }).pipe(Effect.scoped, Effect.provide(Logger.remove(Logger.defaultLogger)))
    )

    it.effect("continues with another replica", () =>
      Effect.gen(function* () {
        const agent = yield* anAgent
        const ids = yield* Ids
        const ending = yield* Scope.make()
        const replica = Context.get(yield* Layer.build(Layer.fresh(ConnectionLogs.layer)).pipe(Scope.extend(ending)), ConnectionLogs)
        const reports = yield* Effect.forEach(Array.from({ length: 300 }), () =>
          Effect.flatMap(ids.next, (connection_id) => reportOf(agent, { connection_id, action: "connect" }))
        )
        const answered = new Set<Uuid.Uuid>()
        const first = yield* Deferred.make<void>()
        const tell = (report: ConnectionReport) =>
          replica
            .report(report)
            .pipe(
              Effect.zipRight(Effect.sync(() => answered.add(report.connection_id))),
              Effect.zipRight(Deferred.succeed(first, undefined))
            )
        const telling = yield* Effect.fork(Effect.forEach(reports, tell, { concurrency: 20, discard: true }))
        yield* Deferred.await(first)
        // What waits in the replica's memory goes with it
        yield* Scope.close(ending, Exit.void)
        yield* Fiber.interrupt(telling)
        const stored = yield* connectionsOf(agent)
        expect([...answered].filter((id) => !stored.includes(id))).toStrictEqual([])
        expect(answered.size).toBeLessThan(reports.length)

        const next = yield* ConnectionLogs
        const unanswered = reports.filter(({ connection_id }) => !answered.has(connection_id))
        yield* Effect.forEach(unanswered, next.report, { concurrency: 20, discard: true })
        yield* Effect.forEach(reports, (report) => next.report({ ...report, action: "disconnect" }), { concurrency: 20, discard: true })
        const rows = yield* rowsOf(agent)
        expect([rows.length, (yield* connectionsOf(agent)).toSorted()]).toStrictEqual([
          300,
          reports.map(({ connection_id }) => connection_id).toSorted()
        ])
        expect(rows.filter((row) => "disconnect_time" in row && row["disconnect_time"] !== null)).toHaveLength(300)
      })
    )

    it.effect("logs a visitor once, until it stays away for an hour or the outcome differs", () =>
      Effect.gen(function* () {
        const logs = yield* ConnectionLogs
        const agent = yield* anAgent
        const visit = {
          ...agent,
          type: "workspace_app",
          user_id: agent.workspace_owner_id,
          ip: "10.0.0.1",
          user_agent: "a browser",
          slug_or_port: "web",
          code: 200
        } as const
        yield* Effect.all([logs.visit(visit), logs.visit(visit), logs.visit(visit)], { concurrency: "unbounded" })
        yield* TestClock.adjust("50 minutes")
        yield* logs.visit(visit)
        yield* TestClock.adjust("50 minutes")
        yield* logs.visit(visit)
        expect(yield* rowsOf(agent)).toHaveLength(1)
        yield* logs.visit({ ...visit, code: 404 })
        expect(yield* rowsOf(agent)).toHaveLength(2)
        yield* TestClock.adjust("61 minutes")
        yield* logs.visit(visit)
        expect(yield* rowsOf(agent)).toHaveLength(3)
      })
    )
  })
}

/** A repository one of whose statements is not answered, and what tells that it was asked. */
const silentIn = (statement: "beginVisit" | "upsert") =>
  Effect.gen(function* () {
    const [asked, answer] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
    const silent = <A>(effect: Effect.Effect<A>) =>
      Effect.uninterruptible(Effect.zipRight(Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer)), effect))
    const repository = Layer.effect(
      ConnectionLogRepository,
      Effect.map(ConnectionLogRepository, (stored) => ({
        ...stored,
        beginVisit: (...given: Parameters<typeof stored.beginVisit>) =>
          statement === "beginVisit" ? silent(stored.beginVisit(...given)) : stored.beginVisit(...given),
        upsert: (...given: Parameters<typeof stored.upsert>) =>
          statement === "upsert" ? silent(stored.upsert(...given)) : stored.upsert(...given)
      }))
    )
    return { asked, answer, repository }
  })

it.effect.each(["beginVisit", "upsert"] as const)(
  "the end of the connection log does not wait for ever for an unanswered %s",
  (statement) =>
    Effect.gen(function* () {
      const { answer, asked, repository } = yield* silentIn(statement)
      const scope = yield* Scope.make()
      const stored = yield* Layer.build(Layer.merge(sqlite, runtime))
      yield* Effect.gen(function* () {
        const agent = yield* anAgent
        const built = yield* Layer.buildWithScope(Layer.provide(ConnectionLogs.layer, repository), scope)
        const visit = { ...agent, type: "port_forwarding", user_id: null, ip: null, user_agent: "", slug_or_port: "80", code: 200 } as const
        yield* Context.get(built, ConnectionLogs).note(visit)
        yield* Deferred.await(asked)
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        yield* Effect.replicateEffect(TestClock.adjust("1 second"), 20)
        const hasEnded = closing.unsafePoll() !== null
        yield* Deferred.succeed(answer, undefined)
        yield* Fiber.join(closing)
        expect(hasEnded).toBe(true)
      }).pipe(Effect.provide(stored))
    }).pipe(Effect.scoped)
)
