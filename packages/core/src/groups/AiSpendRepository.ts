import { Context, type Effect, type Stream } from "effect"
import type { UserId } from "../identity/users/User.js"
import type { OrganizationId } from "../organizations/Organization.js"
import type { Period } from "./AiBudget.js"
import type { GroupId } from "./Group.js"

/** What a user spent at one provider with one model, on account of a group. */
export interface AiSpendEntry {
  readonly user_id: UserId
  readonly group_id: GroupId
  readonly organization_id: OrganizationId
  readonly model: string
  /** The kind of provider. */
  readonly provider: string
  /** What the deployment calls it. */
  readonly provider_name: string
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly cost_micros: number
}

/** What was spent in a period, with the names of who spent it now; a group that is gone has none. */
export interface AiSpendSum extends AiSpendEntry {
  readonly username: string
  readonly group_name: string
}

/** What was spent on AI, by user, group and day in UTC. Of a period count all days that it has a part of. */
export class AiSpendRepository extends Context.Tag("@atelier/core/AiSpendRepository")<
  AiSpendRepository,
  {
    /** Adds to what was spent on a day, `YYYY-MM-DD`. */
    readonly book: (day: string, entry: AiSpendEntry) => Effect.Effect<void>
    /** What users spent on account of a group; who spent nothing has no entry. */
    readonly ofUsers: (groupId: GroupId, userIds: ReadonlyArray<UserId>, period: Period) => Effect.Effect<ReadonlyMap<UserId, number>>
    /** What was spent on account of groups; those of nothing have no entry. */
    readonly ofGroups: (ids: ReadonlyArray<GroupId>, period: Period) => Effect.Effect<ReadonlyMap<GroupId, number>>
    /** What was spent in an organization, by user, in the order of their ids, and then by group, provider and model. */
    readonly sums: (organizationId: OrganizationId, period: Period) => Stream.Stream<AiSpendSum>
  }
>() {}
