import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { PrebuildStatus, TemplateVersionPreset } from "../../templates/versions/TemplateVersionDefinitions.js"
import type { ExistingPrebuild, WantedPrebuilds } from "./PrebuildReconciliation.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"

/** A preset that keeps workspaces ready, or that still has some from before. */
export interface PrebuildPreset extends Pick<TemplateVersionPreset, "id" | "template_version_id" | "name" | "parameters">, WantedPrebuilds {
  readonly template_id: Uuid
  readonly organization_id: Uuid
}

/** A workspace of the pool as it was read: what happens to it is decided again under its locks. */
export interface StoredPrebuild extends ExistingPrebuild {
  /** The preset that it was last started with. */
  readonly preset_id: Uuid
  /** Its latest build and the job of that. */
  readonly build_id: Uuid
  readonly job_id: Uuid
}

/** A workspace of the pool that can be claimed, as it was read. */
export interface ReadyPrebuild {
  readonly id: WorkspaceId
  readonly latest_build_id: Uuid
}

/** The new owner's part of a claimed workspace. */
export type ClaimedFields = Pick<
  Workspace,
  "owner_id" | "name" | "autostart_schedule" | "next_start_at" | "ttl_ms" | "expires_at" | "last_used_at" | "updated_at"
>

/** A preset by the names that operators know it by. */
export interface PresetNames {
  readonly template_name: string
  readonly template_version_name: string
  readonly preset_name: string
}

export class PrebuildRepository extends Context.Tag("@atelier/core/PrebuildRepository")<
  PrebuildRepository,
  {
    /** The presets of active versions that want workspaces, and those of other versions that have some. */
    readonly presets: Effect.Effect<ReadonlyArray<PrebuildPreset>>
    /** All unclaimed workspaces that are not deleted. */
    readonly existing: Effect.Effect<ReadonlyArray<StoredPrebuild>>
    readonly setStatus: (presetId: Uuid, status: PrebuildStatus) => Effect.Effect<void>
    /**
     * Gives the oldest ready workspace of a preset to a new owner; claims at the same time take different ones. Ready: started by the active
     * version, with agents that are all ready. `choice` is the one to claim, with its latest build, or those that are left to others. None without such a workspace. Fails with the index `workspaces_owner_id_name_key`.
     */
    readonly claim: (
      presetId: Uuid,
      fields: ClaimedFields,
      choice: ReadyPrebuild | { readonly except: ReadonlyArray<WorkspaceId> }
    ) => Effect.Effect<Option.Option<WorkspaceId>, Duplicate>
    /** The workspaces of a preset that are ready, the oldest first, without a lock. At most `limit`. */
    readonly ready: (presetId: Uuid, limit: number) => Effect.Effect<ReadonlyArray<ReadyPrebuild>>
    /** Marks the presets of a template's active version as invalidated. */
    readonly invalidate: (templateId: Uuid, at: Timestamp) => Effect.Effect<ReadonlyArray<PresetNames>>
    /** Whether the reconciliation is paused; None until it was paused once. */
    readonly isPaused: Effect.Effect<Option.Option<boolean>>
    /** As `isPaused`, for the transaction that changes it. */
    readonly lockPaused: Effect.Effect<Option.Option<boolean>>
    readonly setPaused: (isPaused: boolean) => Effect.Effect<void>
  }
>() {}
