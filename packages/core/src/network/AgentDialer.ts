/** Port: how the service reaches what listens in a workspace. */
import { Context, Data, type Effect, type Option, type Scope } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"

/**
 * The agent or what it should lead to cannot be reached; `message` says why, to the caller. The reason is `unable` for an agent that does not know
 * such streams, and `busy` for one that has as many streams open as it may.
 */
export class AgentUnreachable extends Data.TaggedError("AgentUnreachable")<{
  readonly message: string
  readonly reason?: "unable" | "busy"
}> {}

/** A byte stream in both directions. */
export interface AgentStream {
  /** Reads the bytes that have arrived, at least one, and waits for them; None once the other side has finished. One read at a time. */
  readonly read: Effect.Effect<Option.Option<Uint8Array>, AgentUnreachable>
  /** Sends all bytes. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, AgentUnreachable>
  /** Nothing more will be written; reading goes on. */
  readonly finish: Effect.Effect<void>
}

/** A TCP port of the loopback interface, seen from the agent. */
export interface AgentTarget {
  readonly agent_id: Uuid
  readonly workspace_id: Uuid
  readonly port: number
}

/** Opens a stream. It is broken off when the scope closes. */
export type Dial = (target: AgentTarget) => Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope>

/**
 * Opens streams to what listens beside an agent. A host that reaches agents in a way of its own provides one, which the service asks before it uses
 * its own ways. Reaches no agent otherwise.
 */
export class AgentDialer extends Context.Reference<AgentDialer>()("@atelier/core/AgentDialer", {
  defaultValue: (): { readonly dial: Dial } => ({
    dial: () => new AgentUnreachable({ message: "The workspace's agent has no connection to the service." })
  })
}) {}

/** Opens streams to what listens in workspaces that an engine of this process runs. The service asks it last. */
export class EngineDialer extends Context.Tag("@atelier/core/EngineDialer")<EngineDialer, { readonly dial: Dial }>() {}
