import { Duration, Effect, Scope } from "effect"
import type { InsertedAgent } from "../../agents/resources/BuildResources.js"
import * as Background from "../../platform/background/Background.js"
import { EventBus } from "../../platform/events/EventBus.js"
import type { Workspace } from "../Workspace.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"

/**
 * Returns a function that has watchers of a workspace look at its new agents when the time for their first connection is over: nothing
 * happens to such an agent that would tell them. What waits ends with the scope.
 */
export const overdueAgents = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const bus = yield* EventBus

  return (workspace: Pick<Workspace, "id" | "owner_id">, agents: ReadonlyArray<Pick<InsertedAgent, "connection_timeout_seconds">>) =>
    Effect.forEach(
      new Set(agents.map(({ connection_timeout_seconds }) => connection_timeout_seconds).filter((seconds) => seconds > 0)),
      (seconds) =>
        Background.once(
          "overdue_agents",
          Effect.delay(
            publishWorkspaceEvent(workspace.owner_id, { kind: "agt_timeout", workspace_id: workspace.id }),
            Duration.seconds(seconds)
          )
        ).pipe(Scope.extend(scope), Effect.provideService(EventBus, bus)),
      { discard: true }
    )
})
