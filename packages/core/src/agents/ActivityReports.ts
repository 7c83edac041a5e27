import { Context, type Effect } from "effect"
import type { Uuid } from "../platform/Uuid.js"

/** The effects of use on a workspace, which the workspaces area implements. workspaces.md §5.3, §5.4. */
export class ActivityReports extends Context.Tag("@atelier/core/ActivityReports")<
  ActivityReports,
  {
    /** Puts the latest build's deadline off. */
    readonly bump: (workspaceId: Uuid, options: { readonly considerAutostart: boolean }) => Effect.Effect<void>
    /** Notes that the workspace is in use. */
    readonly markUsed: (workspaceId: Uuid) => Effect.Effect<void>
  }
>() {}
