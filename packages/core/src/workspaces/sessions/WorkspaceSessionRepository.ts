import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Workspace.js"

export class WorkspaceSessionRepository extends Context.Tag("@atelier/core/WorkspaceSessionRepository")<
  WorkspaceSessionRepository,
  {
    /** Removes the note of the key that a workspace's programs have, and returns the key's id. The workspace is locked until the transaction ends. */
    readonly take: (workspaceId: WorkspaceId) => Effect.Effect<Option.Option<string>>
    /** Notes the key of a workspace that has none. */
    readonly put: (workspaceId: WorkspaceId, keyId: string) => Effect.Effect<void>
  }
>() {}
