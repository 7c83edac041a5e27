import { Context, Effect, Layer } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import * as Timestamp from "../platform/Timestamp.js"
import { WorkspaceRepository } from "../workspaces/WorkspaceRepository.js"
import { type AppSession, InsightsRepository } from "./InsightsRepository.js"

const make = Effect.gen(function* () {
  const repository = yield* InsightsRepository
  const workspaces = yield* WorkspaceRepository
  const { statsCollectionUsageStatsEnable: isCounted } = yield* DeploymentOptions

  return {
    /** Stores visits of apps, terminals and ports, and notes that their workspaces are in use. Those of workspaces that are gone are dropped. */
    record: Effect.fn("AppSessions.record")(function* (sessions: ReadonlyArray<AppSession>) {
      if (sessions.length === 0) return
      const found = new Set(yield* repository.existing(sessions.map(({ workspace_id }) => workspace_id)))
      const known = sessions.filter(({ workspace_id }) => found.has(workspace_id))
      if (isCounted) yield* repository.putSessions(known)
      yield* workspaces.markUsed([...found], yield* Timestamp.now)
    })
  }
})

/** Visits of workspaces' apps, from whichever process serves them. notifications-audit-insights.md §C1. */
export class AppSessions extends Context.Tag("@atelier/core/AppSessions")<AppSessions, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(AppSessions, make)
}
