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

/**
 * A byte stream by callbacks, for bytes that are only passed on: an effect for each piece costs more than to carry it. One reader and one writer at a time,
 * in place of those of effects.
 */
export interface DirectStream {
  /**
   * Returns bytes that have arrived, at least one; null once the other side has finished; an error once the stream is broken off. Returns undefined where
   * there is nothing yet, and calls `ready` once when there is. A later call replaces it.
   */
  readonly take: (ready: () => void) => Uint8Array | null | Error | undefined
  /**
   * Sends all bytes, which may not change afterwards, and calls back when more may be written, or with why not all were sent. May do so at once. A stream that
   * knows when the bytes have left calls `sent` then: they may change from then on.
   */
  readonly put: (bytes: Uint8Array, done: (error?: Error) => void, sent?: () => void) => void
  /** Nothing more will be written; reading goes on. */
  readonly finish: () => void
}

/** A byte stream in both directions. */
export interface AgentStream {
  /** Reads the bytes that have arrived, at least one, and waits for them; None once the other side has finished. One read at a time. */
  readonly read: Effect.Effect<Option.Option<Uint8Array>, AgentUnreachable>
  /** Sends all bytes. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, AgentUnreachable>
  /** Nothing more will be written; reading goes on. */
  readonly finish: Effect.Effect<void>
  /** The same stream without effects, where it has such a form. */
  readonly direct?: DirectStream
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
