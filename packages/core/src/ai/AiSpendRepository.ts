import { Context, type Effect, type Stream } from "effect"
import type { UserId } from "../identity/users/User.js"
import type { OrganizationId } from "../organizations/Organization.js"
import type { Period } from "./AiBudget.js"
import type { GroupId } from "../groups/Group.js"

/** A user's spend at one provider with one model, charged to a group. */
export interface AiSpendEntry {
  readonly user_id: UserId
  readonly group_id: GroupId
  readonly organization_id: OrganizationId
  readonly model: string
  /** The kind of provider. */
  readonly provider: string
  /** The provider's name in the deployment. */
  readonly provider_name: string
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly cost_micros: number
}

/** The spend of a period, with the current names of the users; a deleted group has no name. */
export interface AiSpendSum extends AiSpendEntry {
  readonly username: string
  readonly group_name: string
}

/** AI spend by user, group and day in UTC. A period includes every day that it touches. */
export class AiSpendRepository extends Context.Tag("@atelier/core/AiSpendRepository")<
  AiSpendRepository,
  {
    /** Adds to what was spent on a day, `YYYY-MM-DD`. */
    readonly book: (day: string, entry: AiSpendEntry) => Effect.Effect<void>
    /** The spend of users, charged to a group; users without spend have no entry. */
    readonly ofUsers: (groupId: GroupId, userIds: ReadonlyArray<UserId>, period: Period) => Effect.Effect<ReadonlyMap<UserId, number>>
    /** The spend charged to groups; groups without spend have no entry. */
    readonly ofGroups: (ids: ReadonlyArray<GroupId>, period: Period) => Effect.Effect<ReadonlyMap<GroupId, number>>
    /** The spend of an organization by user, in the order of their ids, then by group, provider and model. */
    readonly sums: (organizationId: OrganizationId, period: Period) => Stream.Stream<AiSpendSum>
  }
>() {}
