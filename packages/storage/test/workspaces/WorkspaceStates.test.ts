/** Texts that tell whether something has changed that the view of a workspace is made of. */
import { AgentLogRepository, AgentRepository } from "@atelier/core/agents"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { WorkspaceRepository, Workspaces } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { anAgent, anApp, aResource } from "../../../../test/records/resources.js"
import { databases } from "../../../../test/store/databases.js"
import { planOf, statementsOf } from "../../../../test/store/statements.js"
import { agentServices } from "../agents/services.js"

/** A workspace with an agent that has an app, and its state. */
const aState = Effect.gen(function* () {
  const stored = yield* aWorkspace()
  const built = yield* aBuild(stored, { resources: [aResource({ agents: [anAgent({ apps: [anApp()] })] })] })
  const { statesOf } = yield* WorkspaceRepository
  const [agent] = built.agents
  if (agent === undefined) return yield* Effect.dieMessage("there is no agent")
  const sign = { agentId: agent.id, connectionId: yield* (yield* Ids).next }
  yield* (yield* AgentRepository).connect([sign], yield* Timestamp.now)
  const current = Effect.map(statesOf([stored.workspace.id]), ([state]) => state)
  return { agent, built, current, sign, stored }
})

for (const [name, database] of databases) {
  layer(Workspaces.layer.pipe(Layer.provideMerge(agentServices(database))))(`states of workspaces on ${name}`, (it) => {
    it.scoped("stay the same with signs of life of agents, which are told apart", () =>
      Effect.gen(function* () {
        const { current, sign } = yield* aState
        const before = yield* current
        const later = Timestamp.fromMillis(Timestamp.toMillis(yield* Timestamp.now) + 1_000)
        yield* (yield* AgentRepository).touch([{ ...sign, isHeard: true }], later)
        const after = yield* current
        expect(after?.state).toBeTypeOf("string")
        expect(after?.state).toBe(before?.state)
        expect(before?.agents).not.toStrictEqual(after?.agents)
        expect(after?.agents).toMatchObject([{ last_connected_at: later, disconnected_at: null }])
      })
    )

    it.scoped("differ after each change of what a view shows", () =>
      Effect.gen(function* () {
        const { agent, current, sign, stored } = yield* aState
        const agents = yield* AgentRepository
        const ids = yield* Ids
        const now = yield* Timestamp.now
        const [app] = agent.apps
        if (app === undefined) return yield* Effect.dieMessage("there is no app")
        const { rename, updateSettings } = yield* WorkspaceRepository
        const changes = {
          settings: updateSettings({ ...stored.workspace, autostart_schedule: "CRON_TZ=UTC 30 9 * * 1-5" }),
          name: Effect.orDie(rename(stored.workspace.id, "another", now)),
          lifecycle: agents.updateLifecycle(agent.id, "ready", { started_at: now, ready_at: now }, now),
          health: agents.updateAppHealth([app.id], "healthy"),
          source: Effect.flatMap(ids.next, (id) =>
            Effect.flatMap(AgentLogRepository, ({ addSource }) =>
              addSource({ workspace_agent_id: agent.id, id, created_at: now, display_name: "another", icon: "" }, 100)
            )
          ),
          status: Effect.flatMap(ids.next, (id) =>
            agents.insertAppStatus({
              id,
              created_at: now,
              workspace_id: stored.workspace.id,
              agent_id: agent.id,
              app_id: app.id,
              state: "working",
              message: "",
              uri: ""
            })
          ),
          disconnection: agents.disconnect(agent.id, sign.connectionId, now)
        } satisfies Record<string, Effect.Effect<unknown, unknown, unknown>>
        const states = new Set([(yield* current)?.state])
        for (const [change, make] of Object.entries<Effect.Effect<unknown, never, AgentLogRepository>>(changes)) {
          yield* make
          const { size } = states
          states.add((yield* current)?.state)
          expect([change, states.size]).toStrictEqual([change, size + 1])
        }
      })
    )

    it.scoped("are found by indexes", () =>
      Effect.gen(function* () {
        const { current } = yield* aState
        const { statements } = yield* statementsOf(current)
        expect(statements).toHaveLength(1)
        for (const statement of statements) expect(yield* planOf(statement)).not.toMatch(/Seq Scan on|SCAN (?!json_each|a$)/m)
      })
    )

    it.scoped("are missing while the job of the latest build waits, and for workspaces that do not exist", () =>
      Effect.gen(function* () {
        const { statesOf } = yield* WorkspaceRepository
        const stored = yield* aWorkspace()
        yield* aBuild(stored, { status: "pending" })
        expect(yield* statesOf([stored.workspace.id, Uuid.nil])).toStrictEqual([{ id: stored.workspace.id, state: null, agents: [] }])
      })
    )
  })
}
