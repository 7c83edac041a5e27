import { anonymousActor, CurrentActor, sessionActor } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { AppVisits } from "@atelier/core/insights"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, type Uuid } from "@atelier/core/platform"
import type { VisitedApp } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { type Context, Effect, Exit, Layer, Scope, TestClock } from "effect"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

const anApp = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* (yield* OrganizationRepository).insert(organization)
  const user = yield* aUser()
  yield* (yield* UserRepository).insert(user, null)
  const template = yield* storedTemplate({ organization_id: organization.id, created_by: user.id })
  const { workspace } = yield* storedWorkspace(template, user.id)
  return {
    organization_id: organization.id,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    workspace_owner_id: user.id,
    agent_id: yield* (yield* Ids).next,
    agent_name: "main",
    access_method: "path",
    type: "workspace_app",
    slug_or_port: "web"
  } satisfies VisitedApp
})

const visitor = (userId: Uuid.Uuid) => sessionActor({ userId, siteRoles: [], memberships: [] }, { ip: "10.0.0.1", userAgent: "browser" })

/** Begins a visit; the effect that comes back ends it. */
const begin = (app: VisitedApp, actor: Context.Tag.Service<CurrentActor>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const visits = yield* AppVisits
    yield* visits.begin(app, 200).pipe(Effect.provideService(CurrentActor, actor), Scope.extend(scope))
    return Scope.close(scope, Exit.void)
  })

const sessionsOf = ({ workspace_id }: VisitedApp) =>
  Effect.flatMap(
    Statements,
    (sql) =>
      sql<{ readonly user_id: string; readonly requests: number; readonly session_started_at: string; readonly session_ended_at: string }>`
        SELECT user_id, requests, session_started_at, session_ended_at FROM workspace_app_stats
        WHERE workspace_id = ${workspace_id} ORDER BY session_started_at`
  )

const lengthOf = (session: { readonly session_started_at: string; readonly session_ended_at: string }): number =>
  Date.parse(session.session_ended_at) - Date.parse(session.session_started_at)

const lastUseOf = ({ workspace_id }: VisitedApp) =>
  Effect.flatMap(
    Statements,
    (sql) => sql<{ readonly last_used_at: string }>`SELECT last_used_at FROM workspaces WHERE id = ${workspace_id}`
  )

const connectionsOf = ({ workspace_id }: VisitedApp) =>
  Effect.flatMap(
    Statements,
    (sql) =>
      sql`SELECT type, user_id, slug_or_port, code FROM connection_logs WHERE workspace_id = ${workspace_id} ORDER BY connect_time, code`
  )

/** Reads until as many rows are stored: the store works while the clock stands. */
const stored = <A, E, R>(read: Effect.Effect<ReadonlyArray<A>, E, R>, count: number) =>
  Effect.repeat(read, { until: (rows) => rows.length >= count })

for (const [name, database] of databases) {
  const services = AppVisits.layer.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(services)(`visits of apps on ${name}`, (it) => {
    it.effect("that are short and begin in the same minute are one session", () =>
      Effect.gen(function* () {
        const app = yield* anApp
        const user = yield* (yield* Ids).next
        for (const _ of [1, 2, 3]) yield* Effect.flatten(begin(app, visitor(user)))
        expect(yield* sessionsOf(app)).toStrictEqual([])
        yield* TestClock.adjust("30 seconds")
        expect(yield* stored(sessionsOf(app), 1)).toMatchObject([{ user_id: user, requests: 3 }])
      })
    )

    it.effect("that last are reported while they do", () =>
      Effect.gen(function* () {
        const app = yield* anApp
        const end = yield* begin(app, visitor(yield* (yield* Ids).next))
        yield* TestClock.adjust("60 seconds")
        expect(yield* sessionsOf(app)).toStrictEqual([])
        yield* TestClock.adjust("30 seconds")
        expect(yield* stored(sessionsOf(app), 1)).toHaveLength(1)
        yield* TestClock.adjust("10 seconds")
        yield* end
        yield* TestClock.adjust("30 seconds")
        const isWhole = (rows: Effect.Effect.Success<ReturnType<typeof sessionsOf>>) => rows.some((row) => lengthOf(row) === 100_000)
        expect(yield* Effect.repeat(sessionsOf(app), { until: isWhole })).toHaveLength(1)
      })
    )

    it.effect("note that their workspace is in use", () =>
      Effect.gen(function* () {
        const app = yield* anApp
        yield* TestClock.adjust("1 hour")
        yield* Effect.flatten(begin(app, visitor(app.workspace_owner_id)))
        yield* TestClock.adjust("30 seconds")
        const now = Timestamp.toMillis(yield* Timestamp.now)
        const isRecent = ([row]: Effect.Effect.Success<ReturnType<typeof lastUseOf>>) => Date.parse(row?.last_used_at ?? "") >= now - 30_000
        expect(yield* Effect.repeat(lastUseOf(app), { until: isRecent })).toHaveLength(1)
      })
    )

    it.effect("without an account count for the owner, and are logged without a user", () =>
      Effect.gen(function* () {
        const app = yield* anApp
        yield* Effect.flatten(begin(app, anonymousActor({ ip: "10.0.0.2" })))
        yield* TestClock.adjust("30 seconds")
        expect(yield* stored(sessionsOf(app), 1)).toMatchObject([{ user_id: app.workspace_owner_id }])
        expect(yield* stored(connectionsOf(app), 1)).toStrictEqual([
          { type: "workspace_app", user_id: null, slug_or_port: "web", code: 200 }
        ])
      })
    )

    it.effect("have one entry for each visitor, app and outcome", () =>
      Effect.gen(function* () {
        const app = yield* anApp
        const port: VisitedApp = { ...app, type: "port_forwarding", slug_or_port: "8080" }
        const user_id = app.workspace_owner_id
        for (const _ of [1, 2]) {
          yield* Effect.flatten(begin(app, visitor(user_id)))
          yield* TestClock.adjust("2 minutes")
          yield* Effect.flatten(begin(port, visitor(user_id)))
          yield* TestClock.adjust("2 minutes")
        }
        yield* Effect.provideService((yield* AppVisits).log(app, 404), CurrentActor, visitor(user_id))
        yield* TestClock.adjust("1 second")
        expect(yield* stored(connectionsOf(app), 3)).toStrictEqual([
          { type: "workspace_app", user_id, slug_or_port: "web", code: 200 },
          { type: "port_forwarding", user_id, slug_or_port: "8080", code: 200 },
          { type: "workspace_app", user_id, slug_or_port: "web", code: 404 }
        ])
      })
    )
  })
}
