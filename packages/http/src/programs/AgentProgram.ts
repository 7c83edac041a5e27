import { Context, type Effect } from "effect"

/** The agent's program as one file that Node.js runs, for workspaces on other machines; none unless the host gives one. deployment.md §1.8. */
export class AgentProgram extends Context.Reference<AgentProgram>()("@atelier/http/AgentProgram", {
  defaultValue: (): Effect.Effect<Uint8Array> | undefined => undefined
}) {}
