/** Connections to the machines of agents. */
import { type AgentStream, AgentUnreachable } from "@atelier/core/network"
import { agentSocket } from "@atelier/node"
import { type Duration, Effect, type Scope } from "effect"
import type { Duplex } from "node:stream"
import { watched } from "../apps/silence.js"
import type { Heartbeat } from "../server/operate/Heartbeat.js"

/** How long reaching the agent may take. */
const reachWithin = "30 seconds"

const unanswered = new AgentUnreachable({ message: "The workspace's agent does not answer." })

/** A connection on a stream to an agent. It ends with the scope, and once it has carried nothing for a time. */
export const machineConnection = (
  dialing: Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope>,
  idle: Duration.DurationInput
): Effect.Effect<Duplex, AgentUnreachable, Heartbeat | Scope.Scope> =>
  Effect.gen(function* () {
    const stream = yield* Effect.timeoutFail(dialing, { duration: reachWithin, onTimeout: () => unanswered })
    let socket: Duplex | undefined
    const end = (): void => void socket?.destroy(new Error("The agent is silent for too long."))
    socket = yield* agentSocket(yield* watched(stream, idle, end))
    return socket
  })
