/** The host's own rule about which workspaces may be created. */
import { Context, Effect } from "effect"
import { Forbidden } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"

/** A workspace that every rule of the service allows, before anything of it is stored. */
export interface RequestedWorkspace {
  readonly name: string
  readonly owner: { readonly id: Uuid; readonly username: string }
  readonly organization: { readonly id: Uuid; readonly name: string }
  readonly template: { readonly id: Uuid; readonly name: string }
  /** The user whose request it is, who may be another one than the owner. */
  readonly initiator_id: Uuid
  /** Whether the workspace is made for a task. */
  readonly is_task: boolean
  /** The values that the request names; presets and defaults are not among them. */
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
}

/**
 * Returns why a workspace may not be created, as a sentence for the caller, or undefined. Workspaces of a prebuilt pool are judged when a user
 * claims them. None unless the host gives one.
 */
export class WorkspaceAdmission extends Context.Reference<WorkspaceAdmission>()("@atelier/core/WorkspaceAdmission", {
  defaultValue: (): ((workspace: RequestedWorkspace) => Effect.Effect<string | undefined, unknown>) | undefined => undefined
}) {}

/** How long the host may take to answer. */
const patience = "10 seconds"

/** Fails with `Forbidden` for a workspace that the host refuses, and dies where the host does not say. */
export const requireAdmitted = (admission: WorkspaceAdmission["Type"], workspace: RequestedWorkspace): Effect.Effect<void, Forbidden> =>
  admission === undefined
    ? Effect.void
    : admission(workspace).pipe(
        Effect.timeoutFail({ duration: patience, onTimeout: () => new Error("admitWorkspace did not answer within 10 seconds") }),
        Effect.orDie,
        Effect.flatMap((refusal) => (refusal === undefined ? Effect.void : new Forbidden({ message: refusal })))
      )
