/** Port: calls the HTTP API of agents. agents-and-apps.md §11. */
import { Context, type Effect } from "effect"
import { AgentUnreachable } from "../../network/AgentDialer.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

export interface AgentCall {
  readonly agent_id: Uuid
  readonly workspace_id: Uuid
  readonly method: "DELETE" | "GET" | "POST"
  readonly path: string
}

export class AgentApi extends Context.Reference<AgentApi>()("@atelier/core/AgentApi", {
  defaultValue: (): {
    /** The status and the JSON of an answer, undefined for an empty one. Fails unless it arrives whole within 30 seconds and has at most 2 MiB. */
    readonly call: (call: AgentCall) => Effect.Effect<{ readonly status: number; readonly body: unknown }, AgentUnreachable>
  } => ({ call: () => new AgentUnreachable({ message: "The workspace's agent cannot be asked here." }) })
}) {}
