import { Clock, Context, Effect, Scope } from "effect"
import { type Actor, CurrentActor, isAnonymous } from "../access/actors/Actor.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { ConnectionLogs } from "../logs/ConnectionLogs.js"
import * as Background from "../platform/background/Background.js"
import { Ids } from "../platform/Ids.js"
import * as Lru from "../platform/collections/Lru.js"
import { type Bagged, Bag } from "../platform/collections/Bag.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
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

type Visitor = Omit<AppSession, "session_started_at" | "session_ended_at" | "requests">

interface OpenVisit extends Bagged {
  readonly visitor: Visitor
  /** Milliseconds since 1970. */
  readonly began: number
}

/** Visits that are over and are stored as one. */
interface EndedVisits {
  readonly visitor: Visitor
  began: number
  ended: number
  requests: number
}

const minuteOf = (millis: number): number => Math.floor(millis / 60_000)

const isLong = ({ began }: OpenVisit, now: number): boolean => now - began > longVisit

/** Short visits of one user that began in the same minute have the same key. */
const keyOf = (visit: OpenVisit, now: number): string => {
  const { access_method, agent_id, session_id, slug_or_port, user_id } = visit.visitor
  return isLong(visit, now) ? session_id : `${user_id}/${agent_id}/${access_method}/${slug_or_port}/${minuteOf(visit.began)}`
}

const rowOf = ({ began, ended, requests, visitor }: EndedVisits): AppSession => ({
  ...visitor,
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
  const logged = Lru.make<string, number>(rememberedVisitors)
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

  const endedAt = ({ began, visitor }: OpenVisit, now: number): EndedVisits => ({ visitor, began, ended: now, requests: 1 })

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
      yield* record([...over.values(), ...lasting.map((visit) => endedAt(visit, now))].map(rowOf)).pipe(
        Effect.catchAllCause((cause) => {
          for (const [key, visits] of over) add(key, visits)
          return Effect.zipRight(Background.countFailure(work), Effect.logError("visits of apps could not be stored", cause))
        })
      )
    }).pipe(Effect.uninterruptible)

  yield* Effect.addFinalizer(() => report(() => true).pipe(Effect.disconnect, Effect.timeoutOption("15 seconds")))
  yield* Background.repeat(work, Effect.delay(report(isLong), reportInterval))

  /** Notes in the connection log that an actor asked for an app, and the HTTP status of the outcome. */
  const noted = (app: VisitedApp, code: number, actor: Actor): Effect.Effect<void> => {
    const { ip = null, userAgent: user_agent = "" } = actor
    const user_id = isAnonymous(actor) ? null : actor.userId
    const { access_method: _, agent_id, ...rest } = app
    const key = JSON.stringify([agent_id, user_id, ip, user_agent.slice(0, maximumUserAgent), app.slug_or_port, code])
    const now = clock.unsafeCurrentTimeMillis()
    const before = logged.get(key)
    if (before !== undefined && now - before < logInterval) return Effect.void
    logged.set(key, now)
    return connections.note({ ...rest, user_id, ip, user_agent, code })
  }

  const log = (app: VisitedApp, code: number): Effect.Effect<void, never, CurrentActor> =>
    Effect.flatMap(CurrentActor, (actor) => noted(app, code, actor))

  /** Begins a visit, which ends with the scope. */
  const opened = (app: VisitedApp, actor: Actor): Effect.Effect<void, never, Scope.Scope> =>
    Effect.flatMap(ids.next, (session_id) => {
      const visitor = {
        user_id: isAnonymous(actor) ? app.workspace_owner_id : actor.userId,
        workspace_id: app.workspace_id,
        agent_id: app.agent_id,
        access_method: app.access_method,
        slug_or_port: app.slug_or_port,
        session_id
      }
      const visit: OpenVisit = { visitor, began: clock.unsafeCurrentTimeMillis(), place: -1 }
      return Effect.uninterruptible(
        Effect.flatMap(Effect.scope, (scope) => {
          open.add(visit)
          return Scope.addFinalizer(
            scope,
            Effect.sync(() => end(visit))
          )
        })
      )
    })

  return {
    begin: (app: VisitedApp, code: number): Effect.Effect<void, never, CurrentActor | Scope.Scope> =>
      Effect.flatMap(CurrentActor, (actor) => {
        const isFull = open.size + ended.size >= capacity
        return isFull ? noted(app, code, actor) : Effect.zipRight(noted(app, code, actor), opened(app, actor))
      }),

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
