import { Effect } from "effect"
import * as Access from "../access/Access.js"
import type { UserId } from "../identity/users/User.js"
import { Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type BudgetInputs, effectiveBudget, type EffectiveBudget, monthOf, type Period } from "./AiBudget.js"
import type { AiBudgetRepository } from "./AiBudgetRepository.js"
import type { AiSpendRepository } from "./AiSpendRepository.js"
import type { Group, GroupId } from "../groups/Group.js"

/** Ids that one question may name. */
const maximumIds = 100

const nothing: BudgetInputs = { override: null, budgets: [], memberships: [] }

export const validIds = (field: string, ids: ReadonlyArray<Uuid>): Effect.Effect<void, Invalid> =>
  ids.length > 0 && ids.length <= maximumIds
    ? Effect.void
    : Invalid.field(field, `must name 1 to ${maximumIds} ids`, "Query parameters have invalid values.")

interface Needs {
  readonly budgets: AiBudgetRepository["Type"]
  readonly spend: AiSpendRepository["Type"]
}

/** What groups and members have spent in a month, against what they may spend. */
export const spendOfMonth = ({ budgets, spend }: Needs) => {
  const thisMonth = Effect.map(Timestamp.now, monthOf)

  /** The budgets of users that are members of something. */
  const effectiveOf = (ids: ReadonlyArray<UserId>): Effect.Effect<ReadonlyMap<UserId, EffectiveBudget | null>> =>
    ids.length === 0
      ? Effect.succeed(new Map())
      : Effect.map(
          budgets.budgetInputs(ids),
          (budgetInputs) => new Map(ids.map((id) => [id, effectiveBudget(budgetInputs.get(id) ?? nothing)]))
        )

  /** The limits and spend of groups, in three statements. */
  const ofGroups = (ids: ReadonlyArray<GroupId>, period: Period) =>
    Effect.gen(function* () {
      if (ids.length === 0) return []
      const limits = new Map((yield* budgets.ofGroups(ids)).map(({ group_id, spend_limit_micros }) => [group_id, spend_limit_micros]))
      const totals = yield* budgets.totals(ids)
      const spent = yield* spend.ofGroups(ids, period)
      return ids.map((group_id) => ({
        group_id,
        spend_limit_micros: limits.get(group_id) ?? null,
        total_spend_limit_micros: totals.get(group_id) ?? null,
        current_spend_micros: spent.get(group_id) ?? 0
      }))
    })

  const ofMembers = (group: Group, userIds: ReadonlyArray<UserId>) =>
    Effect.gen(function* () {
      yield* validIds("user_ids", userIds)
      const period = yield* thisMonth
      const readable = yield* Access.predicate("read", "group_member")
      const known = new Set(yield* budgets.membersAmong(group, userIds, readable))
      const members = Array.from(new Set(userIds)).filter((id) => known.has(id))
      const effective = yield* effectiveOf(members)
      const spent = yield* spend.ofUsers(group.id, members, period)
      return {
        ...period,
        members: members.map((user_id) => {
          const budget = effective.get(user_id) ?? null
          return {
            user_id,
            effective_group_id: budget?.organization_id === group.organization_id ? budget.group_id : null,
            group_budget: budget?.group_id === group.id ? budget.limit : null,
            group_spend_micros: spent.get(user_id) ?? 0
          }
        })
      }
    })

  return { thisMonth, effectiveOf, ofGroups, ofMembers }
}
