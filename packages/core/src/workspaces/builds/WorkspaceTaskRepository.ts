import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { TaskPrompt } from "../../provisioning/engines/ProvisionerEngine.js"
import type { WorkspaceId } from "../Workspace.js"
import type { WorkspaceBuildId } from "./WorkspaceBuild.js"

/** The stored data that builds need of the task of their workspace. */
export class WorkspaceTaskRepository extends Context.Tag("@atelier/core/WorkspaceTaskRepository")<
  WorkspaceTaskRepository,
  {
    /** None for a task that is deleted. */
    readonly prompt: (taskId: Uuid) => Effect.Effect<Option.Option<TaskPrompt>>
    /** The name of a task that is not deleted. */
    readonly named: (taskId: Uuid) => Effect.Effect<Option.Option<{ readonly name: string }>>
    /** The task that an app works on in the latest build of its workspace, unless the task is deleted. */
    readonly ofApp: (appId: Uuid) => Effect.Effect<Option.Option<{ readonly name: string }>>
    /** Notes which app of a build works on the task. */
    readonly linkApp: (app: {
      readonly workspace_build_id: WorkspaceBuildId
      readonly agent_id: Uuid
      readonly app_id: Uuid
    }) => Effect.Effect<void>
    /** Marks the task of a workspace as deleted, and drops its snapshot. */
    readonly deleteOf: (workspaceId: WorkspaceId, at: Timestamp) => Effect.Effect<void>
  }
>() {}
