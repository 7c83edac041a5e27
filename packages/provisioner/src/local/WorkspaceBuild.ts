/** The builds of local workspaces: what they are given, and how they fail. */
import type { Uuid } from "@atelier/core/platform"
import { Data, type Effect } from "effect"
import type { PlacedFile } from "../template/Evaluation.js"
import type { StateAgent } from "./WorkspaceAgents.js"
import type { WorkspaceState } from "./WorkspaceState.js"

/** The workspace build that acts. */
export interface WorkspaceBuild {
  readonly workspace_id: Uuid.Uuid
  readonly workspace_build_id: Uuid.Uuid
  /** Where agents reach the service. */
  readonly access_url: string
}

/** The inputs of a start. */
export interface WorkspaceStart extends WorkspaceBuild {
  readonly agents: ReadonlyArray<Omit<StateAgent, "process">>
  readonly files: ReadonlyArray<PlacedFile>
  /** The free port that the template was given. */
  readonly port: number
}

/** An action on a workspace failed; `state` is the remaining state if the action has changed it. */
export class LocalWorkspaceError extends Data.TaggedError("LocalWorkspaceError")<{
  readonly message: string
  readonly state?: WorkspaceState
}> {}

/** Reports the progress of an action to its caller. */
export type Report = (line: string) => Effect.Effect<void>
