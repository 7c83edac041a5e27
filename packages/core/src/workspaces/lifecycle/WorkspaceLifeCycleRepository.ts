import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Template, TemplateId } from "../../templates/Template.js"
import type { WorkspaceId } from "../Workspace.js"
import type { WorkspaceBuildId } from "../builds/WorkspaceBuild.js"

/** The stored limits of a template that sets any, in milliseconds; 0 sets none. */
export type StoredLimits = Pick<Template, "id" | "failure_ttl_ms" | "time_til_dormant_ms">

/** The instants that a tick compares with. An instant that equals a limit is not due, except for a start. */
export interface DueTimes {
  readonly tick: Timestamp
  /** Per template: workspaces whose latest build failed earlier are cleaned up. */
  readonly failed_before: ReadonlyArray<{ readonly template_id: TemplateId; readonly before: Timestamp }>
  /** Per template: workspaces that were used last earlier become dormant. */
  readonly unused_before: ReadonlyArray<{ readonly template_id: TemplateId; readonly before: Timestamp }>
  /** Whether templates may forbid starts by schedule and have dormant workspaces deleted. */
  readonly policies: boolean
}

export class WorkspaceLifeCycleRepository extends Context.Tag("@atelier/core/WorkspaceLifeCycleRepository")<
  WorkspaceLifeCycleRepository,
  {
    /** Templates that limit how long a failed or an unused workspace is left alone. */
    readonly limits: Effect.Effect<ReadonlyArray<StoredLimits>>
    /**
     * Workspaces to which a rule of §5.5 may apply, by id after another one; at most `limit`. Each rule finds its workspaces by an index of
     * due times, so the cost grows with the workspaces that are due, not with those that exist.
     */
    readonly due: (
      times: DueTimes,
      page: { readonly after: WorkspaceId | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<WorkspaceId>>
    /** Workspaces whose time has ended and that are not deleted, by id after another one; at most `limit`. */
    readonly expired: (
      now: Timestamp,
      page: { readonly after: WorkspaceId | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<WorkspaceId>>
    /** Templates that have owners reminded of a stop, with the time before it. */
    readonly reminderLeads: Effect.Effect<ReadonlyArray<Pick<Template, "id" | "time_til_autostop_notify_ms">>>
    /**
     * Running workspaces that will stop until an instant for each template, and whose owner was not reminded of that. Use after an instant counts as
     * recent: then the deadline is about to be put off, if it can be. notifications-audit-insights.md §A2.
     */
    readonly approachingStops: (
      leads: ReadonlyArray<{ readonly template_id: TemplateId; readonly until: Timestamp }>,
      page: { readonly now: Timestamp; readonly used_after: Timestamp; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<{ readonly id: WorkspaceId; readonly build_id: WorkspaceBuildId; readonly deadline: Timestamp }>>
    /** Notes that the owner is reminded of a deadline; false if that was noted, or the deadline has moved. */
    readonly markReminded: (id: WorkspaceBuildId, deadline: Timestamp) => Effect.Effect<boolean>
  }
>() {}
