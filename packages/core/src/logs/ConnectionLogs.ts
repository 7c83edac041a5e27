import { Context, Deferred, Duration, Effect, Encoding, Exit, FiberSet, Queue, Scope } from "effect"
import * as Access from "../access/Access.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { Entitlements, requireFeature } from "../deployment/licenses/Entitlements.js"
import { Replicas } from "../deployment/Replicas.js"
import { meAlias } from "../identity/users/User.js"
import { Organizations } from "../organizations/Organizations.js"
import * as Background from "../platform/background/Background.js"
import { Cryptography } from "../platform/secrets/Cryptography.js"
import { Ids } from "../platform/Ids.js"
import type { Page } from "../platform/lists/Pagination.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { afterwards } from "../platform/store/Transactor.js"
import type { ConnectionReport, ConnectionSession, Visit, FoundConnection, WrittenConnection } from "./ConnectionLog.js"
import { type ConnectionFilter, ConnectionLogRepository } from "./ConnectionLogRepository.js"
import { parseConnectionSearch } from "./ConnectionSearch.js"
import { countCap, filteredOrganization, logPart } from "./LogPage.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Invalid, Forbidden } from "../platform/Errors.js"
import { type Waiting, connectionWrites } from "./ConnectionWrites.js"

/** Entries of one statement. */
const maximumBatch = 1000

/** Reports that may wait to be stored; those beyond wait themselves. */
const capacity = 10_000

/** Visits that may wait to be noted without their visitor. */
export const maximumNotes = 1_000

/** A visitor who comes back later than this begins another session. */
const sessionGap = Duration.hours(1)

/** How long the end of the service waits for what was noted before. */
const storedWithin = "5 seconds"

/** Characters of a program's name that are kept. */
const maximumUserAgent = 256

/** The methods of {@link ConnectionLogs}. */
export interface ConnectionLogsService {
  /** Records that a client connected to an agent or disconnected, as the agent says. workspaces.md §10. */
  readonly report: (report: ConnectionReport) => Effect.Effect<void>

  /**
   * Records a request to a workspace's app, port or network: once per visitor, program, address, app and outcome, and again after an hour
   * without one. workspaces.md §10.
   */
  readonly visit: (visited: Visit) => Effect.Effect<void>

  /**
   * Records a request as `visit` does, without waiting for the store: the visitor does not wait for the log. While `maximumNotes` wait,
   * further ones are left out, so that a store that is away does not fill the memory.
   */
  readonly note: (visited: Visit) => Effect.Effect<void>

  /** Records sessions that have begun or ended, and returns when they are stored. */
  readonly recordSessions: (sessions: Iterable<ConnectionSession>) => Effect.Effect<void>

  /**
   * The connections that the actor may know of and that a search matches, newest first, and their number up to `count_cap` and one. Fails
   * with `Forbidden` without a license for the connection log. workspaces.md §10.
   */
  readonly list: (
    search: string,
    page: Page
  ) => Effect.Effect<
    { readonly connection_logs: ReadonlyArray<FoundConnection>; readonly count: number; readonly count_cap: number },
    Invalid | Forbidden,
    CurrentActor
  >
}

const make = Effect.gen(function* () {
  const repository = yield* ConnectionLogRepository
  const organizations = yield* Organizations
  const { sha256 } = yield* Cryptography
  const ids = yield* Ids
  const licensed = yield* Entitlements
  const replicas = yield* Replicas
  const queue = yield* Queue.bounded<Waiting>(capacity)

  const { write } = connectionWrites({ repository })

  // Entries that arrive while a statement runs are written by the next one
  yield* Background.repeat(
    "connection_log",
    Effect.flatMap(Queue.takeBetween(queue, 1, maximumBatch), (waiting) => Effect.uninterruptible(write(Array.from(waiting))))
  )

  /** Returns when the entry is stored: a caller that hears of it may forget it. */
  const store = (entry: WrittenConnection) =>
    Effect.gen(function* () {
      const stored = yield* Deferred.make<void>()
      yield* Queue.offer(queue, { entry, stored })
      yield* Deferred.await(stored)
    })

  /** Recording is a licensed feature; without it nothing is kept. */
  const whenLicensed = (record: Effect.Effect<void>) =>
    Effect.flatMap(Entitlements, (licensed) => Effect.when(record, () => licensed.has("connection_log"))).pipe(Effect.asVoid)

  /** Records a request, and returns when its entry is stored. */
  const visit = Traced.fn("ConnectionLogs.visit")(function* (visited: Visit) {
    const now = yield* Timestamp.now
    const { agent_name, code, ip, slug_or_port, type, user_id, workspace_id } = visited
    const user_agent = visited.user_agent.slice(0, maximumUserAgent)
    const session = JSON.stringify([workspace_id, agent_name, type, user_id, ip, user_agent, slug_or_port, code])
    const id = yield* ids.next
    yield* whenLicensed(
      Effect.gen(function* () {
        const key = Encoding.encodeHex(yield* sha256(new TextEncoder().encode(session)))
        if (!(yield* repository.beginVisit(key, now, Timestamp.minus(now, sessionGap)))) return
        yield* store({
          ...visited,
          id,
          user_agent,
          connect_time: now,
          connection_id: null,
          disconnect_time: null,
          disconnect_reason: null,
          replica_id: null
        })
      })
    )
  })

  const noting = yield* Scope.make()
  const underway = yield* Scope.extend(FiberSet.make<void>(), noting)
  // Runs before the fiber that writes is ended. A statement that is not answered keeps a note from its end
  yield* Effect.addFinalizer(() =>
    Effect.zipRight(Background.leftAfter(storedWithin)(FiberSet.awaitEmpty(underway)), Background.lastly(Scope.close(noting, Exit.void)))
  )

  let notes = 0
  let hasWarned = false

  /** Records without a wait for the store. While `maximumNotes` wait, further ones are left out. */
  const unawaited = (record: Effect.Effect<void, never, Entitlements>): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (notes >= maximumNotes) {
        if (hasWarned) return Effect.void
        hasWarned = true
        return Effect.logWarning(`visits are left out of the connection log: ${maximumNotes} of them wait for the store`)
      }
      notes += 1
      return record.pipe(
        Effect.catchAllCause((cause) => Effect.logError("a visit could not be logged", cause)),
        Effect.ensuring(
          Effect.sync(() => {
            notes -= 1
            if (notes === 0) hasWarned = false
          })
        ),
        afterwards,
        FiberSet.run(underway),
        Effect.asVoid
      )
    }).pipe(Effect.provideService(Entitlements, licensed))

  const storeSession = (session: ConnectionSession) =>
    Effect.flatMap(ids.next, (id) =>
      store({ ...session, id, code: null, slug_or_port: null, disconnect_reason: null, replica_id: replicas.id })
    )

  return {
    report: Traced.fn("ConnectionLogs.report")(function* (report: ConnectionReport) {
      const { action, code, reason, time, ...rest } = report
      const hasEnded = action === "disconnect"
      const id = yield* ids.next
      yield* whenLicensed(
        store({
          ...rest,
          id,
          connect_time: time,
          code: hasEnded ? code : null,
          user_id: null,
          user_agent: null,
          slug_or_port: null,
          disconnect_time: hasEnded ? time : null,
          disconnect_reason: hasEnded && reason !== "" ? reason : null,
          replica_id: null
        })
      )
    }),

    visit,

    note: (visited: Visit): Effect.Effect<void> => unawaited(visit(visited)),

    recordSessions: (sessions: Iterable<ConnectionSession>): Effect.Effect<void> =>
      whenLicensed(Effect.forEach(sessions, storeSession, { concurrency: "unbounded", discard: true })).pipe(
        Effect.provideService(Entitlements, licensed)
      ),

    list: Traced.fn("ConnectionLogs.list")(function* (search: string, page: Page) {
      yield* requireFeature("connection_log")
      const { organization, username, workspace_owner, ...others } = yield* parseConnectionSearch(search)
      const { userId } = yield* CurrentActor
      const filter: ConnectionFilter = {
        ...others,
        ...(username === meAlias ? { user_id: userId } : { username }),
        ...(workspace_owner === meAlias ? { workspace_owner_id: userId } : { workspace_owner }),
        organization_id: yield* filteredOrganization(organizations, organization)
      }
      const readable = yield* Access.predicate("read", "connection_log")
      const query = { readable, filter }
      const count = readable._tag === "False" ? 0 : yield* repository.count(query, countCap + 1)
      const connection_logs = count === 0 ? [] : yield* repository.page({ ...query, ...logPart(page) })
      return { connection_logs, count, count_cap: countCap }
    })
  }
})

/** The log of connections to workspaces: fed by agents' reports and by what forwards requests to workspaces. */
export class ConnectionLogs extends Context.Tag("@atelier/core/ConnectionLogs")<ConnectionLogs, ConnectionLogsService>() {
  static readonly layer = standingOn(service(ConnectionLogs, make), Organizations.layer, Replicas.layer)
}

/** Forgets sessions of visits that are over. */
export const visitCleaner = {
  name: "connection_log_visit_cleaner",
  every: Duration.minutes(10),
  run: Effect.gen(function* () {
    const repository = yield* ConnectionLogRepository
    yield* repository.forgetVisits(Timestamp.minus(yield* Timestamp.now, sessionGap))
  })
}

/** How much longer than its connections count as there a process may be silent, before the log takes them for ended. */
const silentFor = Duration.minutes(1)

const abandoned = "The process of the service that carried the connection has ended."

/** Ends the sessions of processes that are gone without a word, as after a crash: no other process knows their ends. */
export const abandonedEnder = {
  name: "connection_log_abandoned_ender",
  every: Duration.minutes(1),
  run: Effect.gen(function* () {
    const repository = yield* ConnectionLogRepository
    const { aliveSince, id: own } = yield* Replicas
    const since = Timestamp.minus(yield* aliveSince, silentFor)
    const ends = { own, since, now: yield* Timestamp.now, reason: abandoned, limit: maximumBatch }
    yield* Effect.repeat(repository.endAbandoned(ends), { until: (ended) => ended < maximumBatch })
  })
}
