import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { UserId } from "../identity/users/User.js"
import type { OrganizationId } from "../organizations/Organization.js"
import type { BudgetInputs, GroupAiBudget, UserAiBudgetOverride } from "./AiBudget.js"
import type { Group, GroupId } from "../groups/Group.js"

export class AiBudgetRepository extends Context.Tag("@atelier/core/AiBudgetRepository")<
  AiBudgetRepository,
  {
    readonly ofGroups: (ids: ReadonlyArray<GroupId>) => Effect.Effect<ReadonlyArray<GroupAiBudget>>
    /** Sets a group's budget, and answers it: when it was first set stays. */
    readonly setOfGroup: (budget: GroupAiBudget) => Effect.Effect<GroupAiBudget>
    /** False if the group has no budget. */
    readonly deleteOfGroup: (id: GroupId) => Effect.Effect<boolean>
    /** None too where its organization is deleted. */
    readonly override: (userId: UserId) => Effect.Effect<Option.Option<UserAiBudgetOverride>>
    /** Sets a user's override, and answers it: when it was first set stays. It goes with the membership of the group. */
    readonly setOverride: (
      override: UserAiBudgetOverride & { readonly organization_id: OrganizationId }
    ) => Effect.Effect<UserAiBudgetOverride>
    /** False if the user has no override. */
    readonly deleteOverride: (userId: UserId) => Effect.Effect<boolean>
    /** Whether a user is in a group, which stays so until the transaction ends. */
    readonly lockMembership: (group: Pick<Group, "id" | "organization_id">, userId: UserId) => Effect.Effect<boolean>
    /** Which of the users are members of the group that the predicate, of type `group_member`, admits. */
    readonly membersAmong: (
      group: Pick<Group, "id" | "organization_id">,
      userIds: ReadonlyArray<UserId>,
      readable: AccessPredicate
    ) => Effect.Effect<ReadonlyArray<UserId>>
    /**
     * The total limits of the members whose `effectiveBudget` is charged to each group: one statement, for any number of members. A group
     * without a budget has no entry.
     */
    readonly totals: (ids: ReadonlyArray<GroupId>) => Effect.Effect<ReadonlyMap<GroupId, number>>
    /** The data that decide the budgets of users; each user has an entry. Three statements, for any number of users. */
    readonly budgetInputs: (userIds: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyMap<UserId, BudgetInputs>>
  }
>() {}
