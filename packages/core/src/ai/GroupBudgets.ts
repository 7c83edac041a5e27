/** The budget of each member of a group: how it is read, set and taken. authorization.md §9. */
import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { auditedResource, ignored, shownAs } from "../audit/AuditedResource.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import type { Group, GroupId } from "../groups/Group.js"
import type { GroupRepository } from "../groups/GroupRepository.js"
import { Invalid, NotFound } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import * as Traced from "../platform/wiring/Traced.js"
import { dollars, type GroupAiBudget, limitViolation } from "./AiBudget.js"
import type { AiBudgetRepository } from "./AiBudgetRepository.js"

export const missingGroup = new NotFound({ resource: "group" })
const noBudget = new NotFound({ resource: "group_ai_budget" })

/** Fails with `Invalid` for a limit that no group and no user can have. */
export const validLimit = (micros: number): Effect.Effect<void, Invalid> => {
  const violation = limitViolation(micros)
  return violation === undefined ? Effect.void : Invalid.field("spend_limit_micros", violation)
}

const budgetAudit = auditedResource<GroupAiBudget>({
  type: "group_ai_budget",
  endsRightsOf: "none",
  fields: { group_id: ignored, spend_limit_micros: shownAs("spend_limit", dollars), created_at: ignored, updated_at: ignored }
})

const subjectOf = (action: AuditAction, { id, name, organization_id }: Group): Audit.Subject<GroupAiBudget> => ({
  action,
  resource: budgetAudit,
  id,
  target: name,
  organization_id
})

/** Returns a group. Fails with `NotFound` unless the actor may read it. */
export const visibleGroup = (groups: GroupRepository["Type"], id: GroupId) =>
  Effect.flatMap(groups.find(id), (found) => Access.visible(Option.getOrNull(found), AccessObjects.group, missingGroup))

interface Needs {
  readonly groups: GroupRepository["Type"]
  readonly repository: AiBudgetRepository["Type"]
}

/** The use cases of groups' budgets. */
export const groupBudgets = ({ groups, repository }: Needs) => {
  const budgetOf = (id: GroupId) => Effect.map(repository.ofGroups([id]), ([budget]) => budget)

  return {
    get: Traced.fn("AiBudgets.get")(function* (id: GroupId) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      yield* visibleGroup(groups, id)
      return (yield* budgetOf(id)) ?? (yield* noBudget)
    }),

    set: Traced.fn("AiBudgets.set")(function* (id: GroupId, spend_limit_micros: number) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      const group = yield* visibleGroup(groups, id)
      return yield* Audit.audited(
        subjectOf("write", group),
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
      const group = yield* visibleGroup(groups, id)
      yield* Audit.audited(
        subjectOf("delete", group),
        Effect.gen(function* () {
          yield* Access.authorizeOrHide("update", AccessObjects.group(group), missingGroup)
          yield* groups.lock(id)
          const before = yield* budgetOf(id)
          if (!(yield* repository.deleteOfGroup(id))) return yield* noBudget
          return { value: undefined, before }
        })
      )
    })
  }
}
