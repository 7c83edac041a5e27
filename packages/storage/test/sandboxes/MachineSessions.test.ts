import { CurrentActor, testActor } from "@atelier/core/access"
import { ActivityReports, AgentRepository } from "@atelier/core/agents"
import { DeploymentOptions, Entitlements } from "@atelier/core/deployment"
import { MachineSessions } from "@atelier/core/sandboxes"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope, TestClock } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { Statements } from "../../src/platform/Statements.js"
import { agentServices } from "../agents/services.js"
import { aRunningAgent, until } from "../agents/runningAgent.js"

/** Replica of the service with sessions of its own, which end with the scope. */
const replica = Effect.map(
  Layer.build(
    Layer.fresh(MachineSessions.layer).pipe(
      Layer.provide(
        Layer.effect(
          DeploymentOptions,
          Effect.map(DeploymentOptions, (options) => ({ ...options, sandboxRequests: 2 }))
        )
      )
    )
  ),
  Context.get(MachineSessions)
)

const anAgent = Effect.gen(function* () {
  const { id, owner, workspace } = yield* aRunningAgent()
  const agent = yield* Effect.flatten(Effect.flatMap(AgentRepository, (agents) => agents.byId(id)))
  const begin = (sessions: MachineSessions["Type"], kind: "command" | "requests") =>
    Effect.provideService(sessions.begin(agent, kind), CurrentActor, testActor({ userId: owner.id }, { ip: "10.0.0.1" }))
  const logged = Effect.flatMap(
    Statements,
    (sql) => sql`SELECT type, connect_time, disconnect_time FROM connection_logs WHERE workspace_id = ${workspace.id}`
  )
  return { agent, begin, logged, workspace }
})

const licensed = Entitlements.of({ has: () => true } as Entitlements["Type"])

for (const [name, database] of databases) {
  layer(agentServices(database))(`the use of machines on ${name}`, (it) => {
    it.scoped("is logged as ongoing, and as over when the service ends", () =>
      Effect.gen(function* () {
        const { begin, logged } = yield* anAgent
        const service = yield* Scope.make()
        const sessions = yield* Scope.extend(replica, service)
        yield* begin(sessions, "command")
        yield* begin(sessions, "requests")
        yield* TestClock.adjust("1 second")
        expect(yield* until(logged, ({ length }) => length === 2)).toMatchObject([{ disconnect_time: null }, { disconnect_time: null }])
        yield* TestClock.adjust("1 minute")
        yield* Scope.close(service, Exit.void)
        for (const row of yield* logged) expect(row).toMatchObject({ type: "ssh", disconnect_time: expect.stringContaining("T") })
      }).pipe(Effect.provideService(Entitlements, licensed))
    )

    it.scoped("has a bound for each agent, and room again after a request", () =>
      Effect.gen(function* () {
        const { begin } = yield* anAgent
        const sessions = yield* replica
        yield* begin(sessions, "command")
        const second = yield* Scope.make()
        yield* Scope.extend(begin(sessions, "requests"), second)
        expect(yield* Effect.flip(begin(sessions, "requests"))).toMatchObject({
          message: "The workspace's agent has 2 requests for its processes and files open, and may have no more."
        })
        yield* Scope.close(second, Exit.void)
        yield* begin(sessions, "command")
      })
    )

    it.scoped("counts as use of a workspace after one whose use could not be stored, and is reported again", () =>
      Effect.gen(function* () {
        const [first, second] = yield* Effect.all([anAgent, anAgent])
        const bumped: Array<string> = []
        let isRefused = true
        const reports = yield* ActivityReports
        const bump = (id: string) =>
          Effect.suspend(() => (isRefused && id === first.workspace.id ? Effect.die("refused") : Effect.sync(() => void bumped.push(id))))
        const sessions = yield* Effect.provideService(replica, ActivityReports, { ...reports, bump })
        for (const { begin } of [first, second]) yield* Effect.scoped(begin(sessions, "command"))
        yield* TestClock.adjust("31 seconds")
        expect(
          yield* until(
            Effect.sync(() => bumped),
            ({ length }) => length > 0
          )
        ).toStrictEqual([second.workspace.id])
        isRefused = false
        yield* TestClock.adjust("62 seconds")
        expect(
          yield* until(
            Effect.sync(() => bumped),
            ({ length }) => length > 1
          )
        ).toStrictEqual([second.workspace.id, first.workspace.id])
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )

    it.scoped("counts as use of the workspace", () =>
      Effect.gen(function* () {
        const { begin, workspace } = yield* anAgent
        const service = yield* Scope.make()
        const sessions = yield* Scope.extend(replica, service)
        yield* TestClock.adjust("90 seconds")
        yield* Effect.scoped(begin(sessions, "command"))
        yield* Scope.close(service, Exit.void)
        yield* TestClock.adjust("61 seconds")
        const stored = Effect.flatMap(WorkspaceRepository, ({ byId }) => Effect.flatten(byId(workspace.id)))
        const { last_used_at } = yield* until(stored, (now) => now.last_used_at !== workspace.last_used_at)
        expect(last_used_at > workspace.last_used_at).toBe(true)
      })
    )
  })
}
