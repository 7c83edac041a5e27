/** Workspaces that a list finds by the state of their agents. */
import { AccessPredicate } from "@atelier/core/access"
import { AgentRepository, type AgentStatus } from "@atelier/core/agents"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, TestClock } from "effect"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { databases } from "../../../../test/store/databases.js"
import { planOf, statementsOf } from "../../../../test/store/statements.js"
import { Statements } from "../../src/platform/Statements.js"
import { agentServices } from "../agents/services.js"

const resources = [aResource({ agents: [anAgent()] })]

/** The names of an organization's workspaces, in the order of the list. */
const namesOf = (
  organization_id: Uuid.Uuid,
  status: AgentStatus | ReadonlyArray<AgentStatus>,
  { limit = 0, offset = 0, owner_id }: { readonly limit?: number; readonly offset?: number; readonly owner_id?: Uuid.Uuid } = {}
) =>
  Effect.gen(function* () {
    const { page } = yield* WorkspaceRepository
    const { count, workspaces } = yield* page({
      readable: AccessPredicate.True(),
      requester: Uuid.nil,
      limit,
      offset,
      now: yield* Timestamp.now,
      inactive: Duration.seconds(30),
      filter: { organization_id, owner_id, agent_status: typeof status === "string" ? [status] : status }
    })
    return { count, names: workspaces.map(({ name }) => name) }
  })

/** A workspace whose agent has connected. */
const aConnectedWorkspace = (given: Parameters<typeof aWorkspace>[0] = {}) =>
  Effect.gen(function* () {
    const stored = yield* aWorkspace(given)
    const { agents } = yield* aBuild(stored, { resources })
    const connection = yield* (yield* Ids).next
    const id = agents[0]?.id ?? Uuid.nil
    yield* (yield* AgentRepository).connect([{ agentId: id, connectionId: connection }], yield* Timestamp.now)
    return { ...stored, agent: { id, connection } }
  })

for (const [name, database] of databases) {
  layer(agentServices(database))(`workspaces by their agents' state on ${name}`, (it) => {
    it.effect("lists the same workspaces on one page and on many", () =>
      Effect.gen(function* () {
        const { organization, owner } = yield* aConnectedWorkspace({ workspace: { name: "b" } })
        yield* aConnectedWorkspace({ organization, owner, workspace: { name: "c" } })
        yield* aConnectedWorkspace({ organization, owner, workspace: { name: "a" } })
        const stopped = yield* aConnectedWorkspace({ organization, owner, workspace: { name: "d" } })
        yield* aBuild(stopped, { transition: "stop", resources: [] })
        expect(yield* namesOf(organization.id, "connected")).toStrictEqual({ count: 3, names: ["a", "b", "c"] })
        for (const [offset, expected] of ["a", "b", "c"].entries()) {
          expect(yield* namesOf(organization.id, "connected", { limit: 1, offset })).toStrictEqual({ count: 3, names: [expected] })
        }
        expect(yield* namesOf(organization.id, "connecting")).toStrictEqual({ count: 0, names: [] })
      })
    )

    it.effect("finds those of one owner in every state, without a look at all agents", () =>
      Effect.gen(function* () {
        const { organization, owner } = yield* aConnectedWorkspace({ workspace: { name: "connected" } })
        const gone = yield* aConnectedWorkspace({ organization, owner, workspace: { name: "disconnected" } })
        yield* (yield* AgentRepository).disconnect(gone.agent.id, gone.agent.connection, yield* Timestamp.now)
        for (const [name, connection_timeout_seconds] of [
          ["connecting", 120],
          ["timeout", 1]
        ] as const) {
          const stored = yield* aWorkspace({ organization, owner, workspace: { name } })
          yield* aBuild(stored, { resources: [aResource({ agents: [anAgent({ connection_timeout_seconds })] })] })
        }
        yield* TestClock.adjust("2 seconds")
        yield* aConnectedWorkspace({ organization })
        for (const status of ["connected", "disconnected", "connecting", "timeout"] as const) {
          const { statements, value } = yield* statementsOf(namesOf(organization.id, status, { owner_id: owner.id }))
          expect(value).toStrictEqual({ count: 1, names: [status] })
          const plans = yield* Effect.forEach(statements, planOf)
          expect(plans.join("\n")).not.toMatch(/LIST SUBQUERY \d+\nSCAN a$/m)
        }
      })
    )

    it.effect("counts a workspace once whose agents are in several states", () =>
      Effect.gen(function* () {
        const { agent, organization, owner } = yield* aConnectedWorkspace({ workspace: { name: "lost" } })
        const several = yield* aWorkspace({ organization, owner, workspace: { name: "several" } })
        const { agents } = yield* aBuild(several, {
          resources: [aResource({ agents: ["gone", "lost", "never"].map((name) => anAgent({ name, connection_timeout_seconds: 1 })) })]
        })
        const { connect, disconnect } = yield* AgentRepository
        const at = yield* Timestamp.now
        yield* Effect.forEach(agents.slice(0, 2), ({ id }) => connect([{ agentId: id, connectionId: agent.connection }], at))
        yield* TestClock.adjust("1 minute")
        const [gone] = agents
        const now = yield* Timestamp.now
        yield* connect([{ agentId: gone?.id ?? Uuid.nil, connectionId: agent.connection }], now)
        yield* disconnect(gone?.id ?? Uuid.nil, agent.connection, now)
        const all = { count: 2, names: ["lost", "several"] }
        expect(yield* namesOf(organization.id, "disconnected")).toStrictEqual(all)
        expect(yield* namesOf(organization.id, ["disconnected", "timeout"])).toStrictEqual(all)
        expect(yield* namesOf(organization.id, ["timeout", "connected", "disconnected"], { limit: 1 })).toStrictEqual({
          count: 2,
          names: ["lost"]
        })
      })
    )

    it.effect("finds an agent that moves to the resource of the next build", () =>
      Effect.gen(function* () {
        const stored = yield* aConnectedWorkspace()
        const { id, connection } = stored.agent
        const sql = yield* Statements
        const { build } = yield* aBuild(stored, { resources: [aResource({ agents: [] })] })
        const found = namesOf(stored.organization.id, "connected")
        expect((yield* found).names).toStrictEqual([])
        yield* sql`UPDATE workspace_agents SET resource_id = (SELECT id FROM workspace_resources WHERE job_id = ${build.job_id}) WHERE id = ${id}`
        expect((yield* found).names).toStrictEqual([stored.workspace.name])
        yield* (yield* AgentRepository).disconnect(id, connection, yield* Timestamp.now)
        expect((yield* found).names).toStrictEqual([])
      })
    )

    it.effect("finds an agent that connected before a migration after its next sign of life", () =>
      Effect.gen(function* () {
        const { agent, organization, workspace } = yield* aConnectedWorkspace()
        const sql = yield* Statements
        yield* sql.dialect({
          postgres: () => sql`UPDATE workspace_agents SET seen_in = NULL, seen_job_id = NULL WHERE id = ${agent.id}`,
          sqlite: () => Effect.void
        })
        yield* (yield* AgentRepository).touch([{ agentId: agent.id, connectionId: agent.connection, isHeard: true }], yield* Timestamp.now)
        expect((yield* namesOf(organization.id, "connected")).names).toStrictEqual([workspace.name])
      })
    )
  })
}
