import { Clock, Context, Effect, Scope } from "effect"
import { type Actor, CurrentActor, isAnonymous } from "../access/actors/Actor.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { ConnectionLogs } from "../logs/ConnectionLogs.js"
import * as Background from "../platform/background/Background.js"
import { startUnlessManual } from "../platform/background/BackgroundWork.js"
import { Ids } from "../platform/Ids.js"
import * as Lru from "../platform/collections/Lru.js"
import { type Bagged, Bag } from "../platform/collections/Bag.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { VisitedApp } from "../workspaces/apps/AppAccess.js"
import { WorkspaceRepository } from "../workspaces/WorkspaceRepository.js"
import { type AppSession, InsightsRepository } from "./InsightsRepository.js"
import * as Traced from "../platform/wiring/Traced.js"

/** How often visits are reported. notifications-audit-insights.md §C1. */
const reportInterval = "30 seconds"

/** Milliseconds. A longer visit has a row of its own. */
const longVisit = 60_000

/** Visits that wait to be reported; those beyond are not counted. */
const capacity = 10_000

/** Milliseconds for which the connection log is not asked again about the same visitor, so that not every request of a page writes to the store. */
const logInterval = 60_000

/** Visitors that this process remembers. */
const rememberedVisitors = 10_000

/** Characters of a user agent by which visitors differ: the connection log has no more of it. */
const maximumUserAgent = 256

type Visitor = Omit<AppSession, "session_id" | "session_started_at" | "session_ended_at" | "requests">

/** The row of a visit, which has an id once it is stored: most visits are stored as one with others. */
interface Row {
  id: Uuid | undefined
}

interface OpenVisit extends Bagged {
  readonly visitor: Visitor
  readonly row: Row
  /** Tells the visits of this process apart. */
  readonly number: number
  /** Milliseconds since 1970. */
  readonly began: number
}

/** Visits that are over and are stored as one. */
interface EndedVisits {
  readonly visitor: Visitor
  readonly row: Row
  began: number
  ended: number
  requests: number
}

const minuteOf = (millis: number): number => Math.floor(millis / 60_000)

const isLong = ({ began }: OpenVisit, now: number): boolean => now - began > longVisit

/** Short visits of one user that began in the same minute have the same key. */
const keyOf = (visit: OpenVisit, now: number): string => {
  const { access_method, agent_id, slug_or_port, user_id } = visit.visitor
  return isLong(visit, now) ? String(visit.number) : `${user_id}/${agent_id}/${access_method}/${slug_or_port}/${minuteOf(visit.began)}`
}

const rowOf = (session_id: Uuid, { began, ended, requests, visitor }: EndedVisits): AppSession => ({
  ...visitor,
  session_id,
  session_started_at: Timestamp.fromMillis(began),
  session_ended_at: Timestamp.fromMillis(ended),
  requests
})

/** The name of the reporting among background work. */
const work = "app_visits"

/** The methods of {@link AppVisits}. */
export interface AppVisitsService {
  /**
   * Begins a visit of the actor, which ends with the scope. A visitor without an account is counted as the workspace's owner. Short visits
   * that begin in the same minute are stored as one.
   */
  readonly begin: (app: VisitedApp, code: number) => Effect.Effect<void, never, CurrentActor | Scope.Scope>

  /**
   * Begins a visit of an actor whom the connection log has already, without an effect. The function that it returns ends the visit. Returns undefined and begins
   * nothing if the log lacks the visit, or if too many visits are open.
   */
  readonly again: (app: VisitedApp, code: number, actor: Actor) => (() => void) | undefined

  /** Notes an outcome in the connection log alone, such as that the actor did not get an app that exists. */
  readonly log: (app: VisitedApp, code: number) => Effect.Effect<void, never, CurrentActor>

  /**
   * Stores visits that another process of the deployment has served, and notes that their workspaces are in use. Visits of workspaces that do
   * not exist are left out. notifications-audit-insights.md §C1.
   */
  readonly record: (...args: [sessions: ReadonlyArray<AppSession>]) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const repository = yield* InsightsRepository
  const workspaces = yield* WorkspaceRepository
  const connections = yield* ConnectionLogs
  const ids = yield* Ids
  const { statsCollectionUsageStatsEnable: isCounted } = yield* DeploymentOptions
  const clock = yield* Effect.clock
  const open = new Bag<OpenVisit>()
  let count = 0
  const logged = Lru.make<string, number>(rememberedVisitors)
  /** The last outcome of each actor, by its name: requests with a kept admission have the same one. */
  const outcomes = new WeakMap<Actor, { readonly app: VisitedApp; readonly code: number; readonly key: string }>()
  let ended = new Map<string, EndedVisits>()

  const record = (sessions: ReadonlyArray<AppSession>) =>
    Effect.gen(function* () {
      if (sessions.length === 0) return
      const found = new Set(yield* repository.existing(sessions.map(({ workspace_id }) => workspace_id)))
      if (isCounted) yield* repository.putSessions(sessions.filter(({ workspace_id }) => found.has(workspace_id)))
      yield* workspaces.markUsed([...found], yield* Timestamp.now)
    })

  const add = (key: string, visits: EndedVisits): void => {
    const before = ended.get(key)
    if (before === undefined) return void ended.set(key, visits)
    before.began = Math.min(before.began, visits.began)
    before.ended = Math.max(before.ended, visits.ended)
    before.requests += visits.requests
  }

  const endedAt = ({ began, row, visitor }: OpenVisit, now: number): EndedVisits => ({ visitor, row, began, ended: now, requests: 1 })

  const end = (visit: OpenVisit): void => {
    const now = clock.unsafeCurrentTimeMillis()
    open.delete(visit)
    add(keyOf(visit, now), endedAt(visit, now))
  }

  /** Stores the visits that are over, and those of the open ones that `isDue` chooses. */
  const report = (isDue: (visit: OpenVisit, now: number) => boolean) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const over = ended
      ended = new Map()
      const lasting = Array.from(open).filter((visit) => isDue(visit, now))
      const rows = [...over.values(), ...lasting.map((visit) => endedAt(visit, now))]
      for (const { row } of rows) row.id ??= yield* ids.next
      yield* record(rows.flatMap((visits) => (visits.row.id === undefined ? [] : [rowOf(visits.row.id, visits)]))).pipe(
        Effect.catchAllCause((cause) => {
          for (const [key, visits] of over) add(key, visits)
          return Effect.zipRight(Background.countFailure(work), Effect.logError("visits of apps could not be stored", cause))
        })
      )
    }).pipe(Effect.uninterruptible)

  yield* Effect.addFinalizer(() => Background.leftAfter("15 seconds")(report(() => true)))
  yield* startUnlessManual(work, report(isLong), Background.repeat(work, Effect.delay(report(isLong), reportInterval)))

  /** The name of an outcome, by which it is noted once in a while; undefined while the connection log shows it. */
  const unnoted = (app: VisitedApp, code: number, actor: Actor, now: number): string | undefined => {
    const key = outcomeOf(app, code, actor)
    const before = logged.get(key)
    return before !== undefined && now - before < logInterval ? undefined : key
  }

  const outcomeOf = (app: VisitedApp, code: number, actor: Actor): string => {
    const last = outcomes.get(actor)
    if (last?.app === app && last.code === code) return last.key
    const user_id = isAnonymous(actor) ? null : actor.userId
    const user_agent = (actor.userAgent ?? "").slice(0, maximumUserAgent)
    const key = JSON.stringify([app.agent_id, user_id, actor.ip ?? null, user_agent, app.slug_or_port, code])
    outcomes.set(actor, { app, code, key })
    return key
  }

  /** Notes in the connection log that an actor asked for an app, and the HTTP status of the outcome. */
  const noted = (app: VisitedApp, code: number, actor: Actor): Effect.Effect<void> => {
    const now = clock.unsafeCurrentTimeMillis()
    const key = unnoted(app, code, actor, now)
    if (key === undefined) return Effect.void
    logged.set(key, now)
    const { ip = null, userAgent: user_agent = "" } = actor
    const { access_method: _, agent_id: __, ...rest } = app
    return connections.note({ ...rest, user_id: isAnonymous(actor) ? null : actor.userId, ip, user_agent, code })
  }

  const log = (app: VisitedApp, code: number): Effect.Effect<void, never, CurrentActor> =>
    Effect.flatMap(CurrentActor, (actor) => noted(app, code, actor))

  const isFull = (): boolean => open.size + ended.size >= capacity

  /** Begins a visit, and returns what ends it. */
  const opened = (app: VisitedApp, actor: Actor): (() => void) => {
    const visitor = {
      user_id: isAnonymous(actor) ? app.workspace_owner_id : actor.userId,
      workspace_id: app.workspace_id,
      agent_id: app.agent_id,
      access_method: app.access_method,
      slug_or_port: app.slug_or_port
    }
    const visit: OpenVisit = { visitor, row: { id: undefined }, number: count++, began: clock.unsafeCurrentTimeMillis(), place: -1 }
    open.add(visit)
    return () => end(visit)
  }

  /** Begins a visit, which ends with the scope. */
  const openedScoped = (app: VisitedApp, actor: Actor): Effect.Effect<void, never, Scope.Scope> =>
    Effect.uninterruptible(Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(opened(app, actor)))))

  return {
    begin: (app: VisitedApp, code: number): Effect.Effect<void, never, CurrentActor | Scope.Scope> =>
      Effect.flatMap(CurrentActor, (actor) => {
        const begun = isFull() ? Effect.void : openedScoped(app, actor)
        return Effect.zipRight(noted(app, code, actor), begun)
      }),

    again: (app: VisitedApp, code: number, actor: Actor) => {
      const hasToNote = unnoted(app, code, actor, clock.unsafeCurrentTimeMillis()) !== undefined
      return hasToNote || isFull() ? undefined : opened(app, actor)
    },

    log,

    record: Traced.fn("AppVisits.record")(record)
  }
})

/**
 * The visits of apps, ports and terminals that this process serves: they reach the connection log at once, and usage statistics and the last use
 * of workspaces within 30 s.
 */
export class AppVisits extends Context.Tag("@atelier/core/AppVisits")<AppVisits, AppVisitsService>() {
  static readonly layer = standingOn(service(AppVisits, make), ConnectionLogs.layer)
}
