import { Duration, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as Background from "../../platform/background/Background.js"
import { EventBus } from "../../platform/events/EventBus.js"
import * as Worker from "../../platform/background/Worker.js"
import { ProvisionerEngines, type TellOutage } from "../../provisioning/engines/ProvisionerEngine.js"
import { AgentLogs } from "../logs/AgentLogs.js"
import { AgentSessions } from "../credentials/AgentSessions.js"

/** How often the engines are asked. */
const interval = Duration.seconds(5)

/**
 * Writes what agents of this machine could not reach into their logs, as long as the scope is open. Each process asks its own engines. A line
 * of an agent that the service does not know any more is dropped, as is one that does not fit into the agent's log.
 */
export const agentOutages = Effect.gen(function* () {
  const sessions = yield* AgentSessions
  const logs = yield* AgentLogs
  const bus = yield* EventBus
  const telling = (yield* ProvisionerEngines).flatMap(({ tellOutages }) => tellOutages ?? [])
  if (telling.length === 0) return

  const tell: TellOutage = ({ message, token }) =>
    Effect.gen(function* () {
      const actor = yield* sessions.authenticate(token, {})
      const write = Effect.flatMap(sessions.current, (agent) =>
        logs.report(agent, { log_source_id: undefined, logs: [{ level: "error", output: message }] })
      )
      yield* Access.actingAs(actor)(write)
    }).pipe(
      Effect.provideService(EventBus, bus),
      Effect.catchAll(({ message }) => Effect.logDebug(`the outage of an agent is not shown: ${message}`))
    )

  const ask = Background.each("agent_outages", telling, (tellOutages) => tellOutages(tell))
  yield* Background.repeat("agent_outages", Worker.begun.pipe(Effect.zipRight(ask), Effect.zipRight(Effect.sleep(interval))))
})
