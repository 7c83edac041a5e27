import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** A template whose workspaces' builds have failed. */
export interface FailingTemplate {
  readonly id: Uuid
  readonly organization_id: Uuid
  readonly name: string
  readonly display_name: string
  readonly failed_builds: number
  /** Builds that have ended, also with success. */
  readonly total_builds: number
}

/** A failed build, with the number of those of its version. */
export interface FailedBuild {
  readonly template_id: Uuid
  readonly template_version_id: Uuid
  readonly template_version_name: string
  readonly failed_count: number
  readonly workspace_owner_username: string
  readonly workspace_name: string
  readonly workspace_id: Uuid
  readonly build_number: number
}

export class FailedBuildRepository extends Context.Tag("@atelier/core/FailedBuildRepository")<
  FailedBuildRepository,
  {
    /** When the last report was made. */
    readonly reportedAt: Effect.Effect<Option.Option<Timestamp>>
    readonly setReportedAt: (at: Timestamp) => Effect.Effect<void>
    /** Templates with failed builds that were created since an instant, by name. */
    readonly templatesSince: (since: Timestamp) => Effect.Effect<ReadonlyArray<FailingTemplate>>
    /** The failed builds that were created since an instant, by version; of each version those of the highest numbers, at most `limit`. */
    readonly buildsSince: (since: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<FailedBuild>>
    /** Holders of a site role that are members of one of some organizations, with the organization. */
    readonly membersWithRole: (
      role: string,
      organizationIds: ReadonlyArray<Uuid>
    ) => Effect.Effect<ReadonlyArray<{ readonly user_id: Uuid; readonly organization_id: Uuid }>>
  }
>() {}
