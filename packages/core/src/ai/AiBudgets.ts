import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedResource, ignored, shownAs } from "../audit/AuditedResource.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { AccountRepository } from "../identity/users/AccountRepository.js"
import { lockedAccount } from "../identity/users/Account.js"
import type { User } from "../identity/users/User.js"
import { Users } from "../identity/users/Users.js"
import { Invalid, NotFound, type Forbidden } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { dollars, type GroupAiBudget, limitViolation, type UserAiBudgetOverride } from "./AiBudget.js"
import { AiBudgetRepository } from "./AiBudgetRepository.js"
import type { Group, GroupId } from "../groups/Group.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"

/** A limit of one user, and the group on whose account it is. */
export interface OverrideRequest {
  readonly group_id: GroupId
  readonly spend_limit_micros: number
}

const missingGroup = new NotFound({ resource: "group" })
const noBudget = new NotFound({ resource: "group_ai_budget" })
const noOverride = new NotFound({ resource: "user_ai_budget_override" })

const validLimit = (micros: number): Effect.Effect<void, Invalid> => {
  const violation = limitViolation(micros)
  return violation === undefined ? Effect.void : Invalid.field("spend_limit_micros", violation)
}

const budgetAudit = auditedResource<GroupAiBudget>({
  type: "group_ai_budget",
  endsRightsOf: "none",
  fields: { group_id: ignored, spend_limit_micros: shownAs("spend_limit", dollars), created_at: ignored, updated_at: ignored }
})

interface AuditedOverride extends Omit<UserAiBudgetOverride, "group_id"> {
  /** Empty before the first override. */
  readonly group_id: string
  readonly group_name: string
}

const overrideAudit = auditedResource<AuditedOverride>({
  type: "user_ai_budget_override",
  endsRightsOf: "none",
  fields: {
    user_id: ignored,
    group_id: audited,
    group_name: audited,
    spend_limit_micros: shownAs("spend_limit", dollars),
    created_at: ignored,
    updated_at: ignored
  }
})

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

  const groupOf = (id: GroupId) =>
    Effect.flatMap(groups.find(id), (found) => Access.visible(Option.getOrNull(found), AccessObjects.group, missingGroup))

  const budgetOf = (id: GroupId) => Effect.map(repository.ofGroups([id]), ([budget]) => budget)

  const ofGroup = (action: AuditAction, { id, name, organization_id }: Group): Audit.Subject<GroupAiBudget> => ({
    action,
    resource: budgetAudit,
    id,
    target: name,
    organization_id
  })

  const ofUser = (action: AuditAction, { id, username }: User, { organization_id }: Group): Audit.Subject<AuditedOverride> => ({
    action,
    resource: overrideAudit,
    id,
    target: username,
    organization_id
  })

  /** An override as audit entries show it. The former one may have been charged to a group that the actor does not see. */
  const recordOf = (override: UserAiBudgetOverride): Effect.Effect<AuditedOverride> =>
    Effect.map(groups.find(override.group_id), (group) => ({
      ...override,
      group_name: Option.match(group, { onNone: () => "", onSome: ({ name }) => name })
    }))

  /** Fails with `NotFound` unless the actor may change the user and the group. */
  const mayOverride = (user: User, group: Group) =>
    Effect.zipRight(
      Access.authorizeOrHide("update", AccessObjects.user(user)),
      Access.authorizeOrHide("update", AccessObjects.group(group), missingGroup)
    )

  return {
    get: Traced.fn("AiBudgets.get")(function* (id: GroupId) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      yield* groupOf(id)
      return (yield* budgetOf(id)) ?? (yield* noBudget)
    }),

    set: Traced.fn("AiBudgets.set")(function* (id: GroupId, spend_limit_micros: number) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      const group = yield* groupOf(id)
      return yield* Audit.audited(
        ofGroup("write", group),
        Effect.gen(function* () {
          yield* Access.authorizeOrHide("update", AccessObjects.group(group), missingGroup)
          yield* validLimit(spend_limit_micros)
          if (Option.isNone(yield* groups.lock(id))) return yield* missingGroup
          const before = yield* budgetOf(id)
          const now = yield* Timestamp.now
          const value = yield* repository.setOfGroup({ group_id: id, spend_limit_micros, created_at: now, updated_at: now })
          // Entries show what was before the first budget as no money
          return { value, before: before ?? { ...value, spend_limit_micros: 0 }, after: value }
        })
      )
    }),

    delete: Traced.fn("AiBudgets.delete")(function* (id: GroupId) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      const group = yield* groupOf(id)
      yield* Audit.audited(
        ofGroup("delete", group),
        Effect.gen(function* () {
          yield* Access.authorizeOrHide("update", AccessObjects.group(group), missingGroup)
          yield* groups.lock(id)
          const before = yield* budgetOf(id)
          if (!(yield* repository.deleteOfGroup(id))) return yield* noBudget
          return { value: undefined, before }
        })
      )
    }),

    override: Traced.fn("AiBudgets.override")(function* (reference: string) {
      yield* requireFeature("aibridge")
      const { id } = yield* users.get(reference)
      return yield* Effect.flatMap(repository.override(id), Option.match({ onNone: () => noOverride, onSome: Effect.succeed }))
    }),

    setOverride: Traced.fn("AiBudgets.setOverride")(function* (reference: string, { group_id, spend_limit_micros }: OverrideRequest) {
      yield* requireFeature("aibridge")
      const user = yield* users.get(reference)
      const group = yield* groupOf(group_id)
      return yield* Audit.audited(
        ofUser("write", user, group),
        Effect.gen(function* () {
          yield* mayOverride(user, group)
          yield* validLimit(spend_limit_micros)
          yield* lockedAccount(accounts, user.id)
          // The group first: its deletion would wait for the membership, which would wait for the group
          if (Option.isNone(yield* groups.lock(group.id))) return yield* missingGroup
          if (!(yield* repository.lockMembership(group, user.id))) {
            return yield* Invalid.field("group_id", "is not a group that the user is in")
          }
          const before = Option.getOrUndefined(yield* repository.override(user.id))
          const now = yield* Timestamp.now
          const value = yield* repository.setOverride({
            user_id: user.id,
            group_id,
            organization_id: group.organization_id,
            spend_limit_micros,
            created_at: now,
            updated_at: now
          })
          const after = yield* recordOf(value)
          const none = { ...after, group_id: "", group_name: "", spend_limit_micros: 0 }
          return { value, before: before === undefined ? none : yield* recordOf(before), after }
        })
      )
    }),

    deleteOverride: Traced.fn("AiBudgets.deleteOverride")(function* (reference: string) {
      yield* requireFeature("aibridge")
      const user = yield* users.get(reference)
      const found = Option.getOrUndefined(yield* repository.override(user.id))
      if (found === undefined) return yield* noOverride
      const group = yield* groupOf(found.group_id)
      yield* Audit.audited(
        ofUser("delete", user, group),
        Effect.gen(function* () {
          yield* mayOverride(user, group)
          yield* lockedAccount(accounts, user.id)
          const before = Option.getOrUndefined(yield* repository.override(user.id))
          // A concurrent change may have charged it to a group that the actor may not change
          if (before?.group_id !== group.id) return yield* noOverride
          yield* repository.deleteOverride(user.id)
          return { value: undefined, before: yield* recordOf(before) }
        })
      )
    })
  }
})

/** Limits on users' AI spend. */
export class AiBudgets extends Context.Tag("@atelier/core/AiBudgets")<AiBudgets, AiBudgetsService>() {
  static readonly layer = standingOn(service(AiBudgets, make), Users.layer)
}
