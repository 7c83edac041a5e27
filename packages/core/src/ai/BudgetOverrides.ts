/** The budget of one user in place of its groups': how it is read, set and taken. authorization.md §9. */
import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedResource, ignored, shownAs } from "../audit/AuditedResource.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import type { Group, GroupId } from "../groups/Group.js"
import type { GroupRepository } from "../groups/GroupRepository.js"
import { lockedAccount } from "../identity/users/Account.js"
import type { AccountRepository } from "../identity/users/AccountRepository.js"
import type { User } from "../identity/users/User.js"
import type { Users } from "../identity/users/Users.js"
import { Invalid, NotFound } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import * as Traced from "../platform/wiring/Traced.js"
import { dollars, type UserAiBudgetOverride } from "./AiBudget.js"
import type { AiBudgetRepository } from "./AiBudgetRepository.js"
import { missingGroup, validLimit, visibleGroup } from "./GroupBudgets.js"

/** A limit of one user, and the group on whose account it is. */
export interface OverrideRequest {
  readonly group_id: GroupId
  readonly spend_limit_micros: number
}

const noOverride = new NotFound({ resource: "user_ai_budget_override" })

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

const subjectOf = (action: AuditAction, { id, username }: User, { organization_id }: Group): Audit.Subject<AuditedOverride> => ({
  action,
  resource: overrideAudit,
  id,
  target: username,
  organization_id
})

/** Fails with `NotFound` unless the actor may change the user and the group. */
const mayOverride = (user: User, group: Group) =>
  Effect.zipRight(
    Access.authorizeOrHide("update", AccessObjects.user(user)),
    Access.authorizeOrHide("update", AccessObjects.group(group), missingGroup)
  )

interface Needs {
  readonly users: Users["Type"]
  readonly accounts: AccountRepository["Type"]
  readonly groups: GroupRepository["Type"]
  readonly repository: AiBudgetRepository["Type"]
}

/** The use cases of users' own budgets. */
export const budgetOverrides = ({ accounts, groups, repository, users }: Needs) => {
  /** An override as audit entries show it. The former one may have been charged to a group that the actor does not see. */
  const recordOf = (override: UserAiBudgetOverride): Effect.Effect<AuditedOverride> =>
    Effect.map(groups.find(override.group_id), (group) => ({
      ...override,
      group_name: Option.match(group, { onNone: () => "", onSome: ({ name }) => name })
    }))

  return {
    override: Traced.fn("AiBudgets.override")(function* (reference: string) {
      yield* requireFeature("aibridge")
      const { id } = yield* users.get(reference)
      return yield* Effect.flatMap(repository.override(id), Option.match({ onNone: () => noOverride, onSome: Effect.succeed }))
    }),

    setOverride: Traced.fn("AiBudgets.setOverride")(function* (reference: string, { group_id, spend_limit_micros }: OverrideRequest) {
      yield* requireFeature("aibridge")
      const user = yield* users.get(reference)
      const group = yield* visibleGroup(groups, group_id)
      return yield* Audit.audited(
        subjectOf("write", user, group),
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
      const group = yield* visibleGroup(groups, found.group_id)
      yield* Audit.audited(
        subjectOf("delete", user, group),
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
}
