/** Port: how a process reaches an agent that is connected to another process of the deployment. agents-and-apps.md §17. */
import { Context, type Effect, type Scope } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type AgentStream, type AgentTarget, AgentUnreachable } from "./AgentDialer.js"

/** Another process, and where it is reached. */
export interface OtherProcess {
  readonly id: Uuid
  readonly address: string
}

export class ReplicaStreams extends Context.Reference<ReplicaStreams>()("@atelier/core/ReplicaStreams", {
  defaultValue: (): {
    /** Opens a stream on a connection that the agent has to the other process. The stream is broken off when the scope closes. */
    readonly open: (process: OtherProcess, target: AgentTarget) => Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope>
  } => ({ open: () => new AgentUnreachable({ message: "The workspace's agent is connected to another process of the service." }) })
}) {}
