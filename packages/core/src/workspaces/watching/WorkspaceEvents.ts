/** Changes of workspaces, published to their watchers. workspaces.md §6.1. */
import { Effect, Schema } from "effect"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import { type Channel, channel, channelsOf, type EventBus } from "../../platform/events/EventBus.js"
import { publish } from "../../platform/store/Transactor.js"
import { Uuid } from "../../platform/texts/Uuid.js"

export const WorkspaceEventKind = Schema.Literal(
  /** A build was created, acquired, finished or canceled. */
  "state_change",
  /** Renamed, or its deadline extended. */
  "mtd_update",
  "stats_update",
  "app_health",
  "agt_lifecycle_update",
  "agt_connection_update",
  "agt_first_logs",
  "agt_logs_overflow",
  "agt_timeout",
  "agt_app_status_update"
)
export type WorkspaceEventKind = typeof WorkspaceEventKind.Type

export const WorkspaceEvent = Schema.Struct({
  kind: WorkspaceEventKind,
  workspace_id: Uuid,
  agent_id: Schema.optional(Uuid)
})
export interface WorkspaceEvent extends Schema.Schema.Type<typeof WorkspaceEvent> {}

/** A build has ended, of whichever workspace. */
export const buildEnds = channel("build_ends", Schema.Struct({ build_id: Uuid }))

/** A pool of prebuilt workspaces may have too few: a user has claimed one, or an administrator has changed what is wanted. */
export const poolChanges = channel("prebuild_pools", Schema.Struct({}))

/** The events of all workspaces of one owner. */
export const workspaceEvents: (ownerId: Uuid) => Channel<WorkspaceEvent> = channelsOf("workspace_owner", WorkspaceEvent)

/**
 * Tells who watches the owner's workspaces; within a transaction, after its commit. Another build may retire the tokens of the workspace's
 * agents.
 */
export const publishWorkspaceEvent = (ownerId: Uuid, event: WorkspaceEvent): Effect.Effect<void, never, EventBus> =>
  Effect.zipRight(
    publish(workspaceEvents(ownerId), event),
    event.kind === "state_change" ? publishRightsChange({ workspace_id: event.workspace_id }) : Effect.void
  )
