/** A start that was requested together with a stop, and is queued after the stop has succeeded. workspaces.md §4.1, `on_success`. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"

/** `dropped` was not wanted any more, `failed` was refused. */
export const FollowUpStatus = Schema.Literal("pending", "queued", "dropped", "failed")
export type FollowUpStatus = typeof FollowUpStatus.Type

/** Events of a follow-up: `retry` leaves it to a later time. */
export type FollowUpEvent = "queue" | "drop" | "fail" | "retry"

/** The status that each event leads to; a follow-up that has ended does not change. */
export const followUpTransitions = {
  pending: { queue: "queued", drop: "dropped", fail: "failed", retry: "pending" },
  queued: {},
  dropped: {},
  failed: {}
} as const satisfies Record<FollowUpStatus, Partial<Record<FollowUpEvent, FollowUpStatus>>>

/** A follow-up as it is stored: at most one of each build. */
export const BuildFollowUp = Schema.Struct({
  /** The stop. */
  build_id: Uuid,
  /** Null for the version that is active by then. */
  template_version_id: Schema.NullOr(Uuid),
  template_version_preset_id: Schema.NullOr(Uuid),
  rich_parameter_values: Schema.Array(ParameterValue),
  status: FollowUpStatus,
  /** How often it could not be queued. */
  attempts: Schema.Number,
  /** Not tried before. */
  due_at: Timestamp,
  updated_at: Timestamp
})
export interface BuildFollowUp extends Schema.Schema.Type<typeof BuildFollowUp> {}
