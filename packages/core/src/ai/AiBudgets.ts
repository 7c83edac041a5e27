import { Context, Effect } from "effect"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"
import type { GroupId } from "../groups/Group.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { AccountRepository } from "../identity/users/AccountRepository.js"
import { Users } from "../identity/users/Users.js"
import type { Forbidden, Invalid, NotFound } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { GroupAiBudget, UserAiBudgetOverride } from "./AiBudget.js"
import { AiBudgetRepository } from "./AiBudgetRepository.js"
import { budgetOverrides, type OverrideRequest } from "./BudgetOverrides.js"
import { groupBudgets } from "./GroupBudgets.js"

/** The methods of {@link AiBudgets}. */
export interface AiBudgetsService {
  /** The budget of a group's members. Fails with `NotFound` if the group has no budget. */
  readonly get: (id: GroupId) => Effect.Effect<GroupAiBudget, Forbidden | NotFound, CurrentActor>

  /** Sets the budget of each member of a group. Fails with `NotFound` if the actor may not change the group. */
  readonly set: (
    id: GroupId,
    spend_limit_micros: number
  ) => Effect.Effect<GroupAiBudget, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Takes the budget of a group: its members have that of another of their groups, or no bound. */
  readonly delete: (id: GroupId) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | Auditing>

  /** The user's own limit in place of its groups'. Fails with `NotFound` if it is not set. */
  readonly override: (reference: string) => Effect.Effect<UserAiBudgetOverride, Forbidden | NotFound, CurrentActor>

  /**
   * Gives a user a budget of its own, charged to one of its groups. Fails with `NotFound` if the actor may not change both the user and
   * the group, and with `Invalid` if the user is not in the group.
   */
  readonly setOverride: (
    reference: string,
    request: OverrideRequest
  ) => Effect.Effect<UserAiBudgetOverride, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Takes what was set for a user alone. Fails with `NotFound` as `setOverride` does, and where there is nothing. */
  readonly deleteOverride: (reference: string) => Effect.Effect<undefined, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const groups = yield* GroupRepository
  const repository = yield* AiBudgetRepository
  return { ...groupBudgets({ groups, repository }), ...budgetOverrides({ users, accounts, groups, repository }) }
})

/** Limits on users' AI spend. */
export class AiBudgets extends Context.Tag("@atelier/core/AiBudgets")<AiBudgets, AiBudgetsService>() {
  static readonly layer = standingOn(service(AiBudgets, make), Users.layer)
}
