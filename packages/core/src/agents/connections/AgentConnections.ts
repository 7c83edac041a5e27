import { Context, type Duration, Effect, Scope } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Ids } from "../../platform/Ids.js"
import * as Background from "../../platform/background/Background.js"
import { makeGathering } from "../../platform/background/Gathering.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction, transaction, Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { publishAgentEvent } from "../AgentEvents.js"
import { observeFirstConnection } from "../reports/AgentMetrics.js"
import { AgentRepository } from "../AgentRepository.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"
import { makeChecks, type Retired } from "./ConnectionChecks.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import { EventBus } from "../../platform/events/EventBus.js"

export type { Retired } from "./ConnectionChecks.js"

/** How long noting the end of a connection may take. */
const lastWrite: Duration.DurationInput = "30 seconds"

/** Agents whose connections are stored together, at most: their rows are locked until all are stored. */
const notedAtOnce = 32

/** A connection before it is stored. */
interface NewConnection {
  readonly agent: AgentWorkspace
  readonly connectionId: Uuid
}

/** What storing needs. */
const carried = Context.pick(EventBus, Transactor)

/** The methods of {@link AgentConnections}. */
export interface AgentConnectionsService {
  /**
   * Stores that an agent is connected, and that it no longer is when the scope closes. `current` answers the agent with the owner that its workspace has, `ping` asks the
   * agent for a sign of life, and `retire` is called when the connection has to be closed. An agent that `hasSpoken` within the last milliseconds is not asked. The signs of life of all agents are stored together, once a second, and a
   * connection that waits takes no fiber. agents-and-apps.md §3.
   */
  readonly connect: (
    current: () => AgentWorkspace,
    ping: Effect.Effect<unknown, unknown>,
    retire: (why: Retired) => void,
    hasSpoken?: (within: number) => boolean
  ) => Effect.Effect<void, never, Scope.Scope>
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const ids = yield* Ids
  const { agentConnectionUpdateInterval: interval } = yield* DeploymentOptions
  const checks = yield* makeChecks(interval)
  const services = carried(yield* Effect.context<EventBus | Transactor>())

  const noteAll = (connections: ReadonlyArray<NewConnection>) =>
    Effect.gen(function* () {
      // Of two connections of one agent, the one that came last
      const newest = Array.from(new Map(connections.map((connection) => [connection.agent.agent_id, connection])).values())
      const signs = newest.map(({ agent, connectionId }) => ({ agentId: agent.agent_id, connectionId }))
      const connectedAt = yield* Timestamp.now
      const publishing = Effect.forEach(newest, ({ agent }) => publishAgentEvent(agent, "agt_connection_update"), { discard: true })
      const storing = Effect.zipLeft(repository.connect(signs, connectedAt), publishing)
      // One whose row another transaction keeps locked must not keep the others waiting
      const unobserved = new Set(yield* signs.length > 1 ? hurriedTransaction(storing) : transaction(storing))
      return ({ agent }: NewConnection) => (unobserved.delete(agent.agent_id) ? connectedAt : undefined)
    }).pipe(Effect.provide(services))

  const note = yield* makeGathering({
    name: "agent_connection",
    key: ({ agent }: NewConnection) => agent.agent_id,
    most: notedAtOnce,
    work: noteAll
  })

  const noteConnected = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const connectionId = yield* ids.next
      const firstAt = yield* note({ agent, connectionId })
      if (firstAt !== undefined)
        yield* observeFirstConnection(agent, Timestamp.toMillis(firstAt) - Timestamp.toMillis(agent.agent_created_at))
      return connectionId
    })

  const noteDisconnected = (agent: AgentWorkspace, connectionId: Uuid) =>
    Effect.gen(function* () {
      yield* repository.disconnect(agent.agent_id, connectionId, yield* Timestamp.now)
      yield* publishAgentEvent(agent, "agt_connection_update")
    }).pipe(
      transaction,
      Background.leftAfter(lastWrite),
      Effect.catchAllCause((cause) => Effect.logError("the end of an agent's connection could not be stored", cause))
    )

  return {
    connect: Traced.fn("AgentConnections.connect")(function* (
      current: () => AgentWorkspace,
      ping: Effect.Effect<unknown, unknown>,
      retire: (why: Retired) => void,
      hasSpoken: (within: number) => boolean = () => false
    ) {
      const scope = yield* Effect.scope
      // `Effect.acquireRelease` would keep a copy of the fiber's references and services for each agent
      const connectionId = yield* Effect.uninterruptible(
        Effect.tap(
          Effect.suspend(() => noteConnected(current())),
          (connectionId) =>
            Scope.addFinalizer(
              scope,
              Effect.suspend(() => Effect.provide(noteDisconnected(current(), connectionId), services))
            )
        )
      )
      yield* checks.check({ agentId: current().agent_id, connectionId, ping, retire, hasSpoken })
    })
  }
})

/** Which agents are connected. */
export class AgentConnections extends Context.Tag("@atelier/core/AgentConnections")<AgentConnections, AgentConnectionsService>() {
  static readonly layer = service(AgentConnections, make)
}
