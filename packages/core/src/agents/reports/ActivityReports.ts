import { Context, type Effect } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { AppState } from "../apps/WorkspaceApp.js"

/** The effects of use on a workspace, which the workspaces area implements. workspaces.md §5.3, §5.4. */
export class ActivityReports extends Context.Tag("@atelier/core/ActivityReports")<
  ActivityReports,
  {
    /** Puts the latest build's deadline off. */
    readonly bump: (workspaceId: Uuid, options: { readonly considerAutostart: boolean }) => Effect.Effect<void>
    /** Notes that the workspace is in use. */
    readonly markUsed: (workspaceId: Uuid) => Effect.Effect<void>
    /** Tells the owner that the program of a task has another state. In the transaction that stores it. */
    readonly taskState: (workspaceId: Uuid, appId: Uuid, state: AppState) => Effect.Effect<void>
    /** Tells the owner that little memory (the empty path) or little of a volume is left. In the transaction that notes it. */
    readonly thresholdsReached: (
      workspaceId: Uuid,
      reached: ReadonlyArray<{ readonly path: string; readonly threshold: number }>
    ) => Effect.Effect<void>
  }
>() {}
