/** AI budgets and spend of group members. authorization.md §9. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { GroupAiBudget as StoredBudget, LimitSource, UserAiBudgetOverride as StoredOverride } from "@atelier/core/ai"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, integer, listOf, Path, required, StrictQuery, text } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { AiLicensed, GroupsLicensed } from "../licenses.js"

const GroupAiBudget = StoredBudget.annotations({ identifier: "GroupAIBudget" })
const UserAiBudgetOverride = StoredOverride.annotations({ identifier: "UserAIBudgetOverride" })

const AiBudgetLimit = Schema.Struct({ spend_limit_micros: Numbers.Count, limit_source: LimitSource }).annotations({
  identifier: "AIBudgetLimit"
})

const period = { period_start: Timestamp.Timestamp, period_end: Timestamp.Timestamp }

/** The limits are null where the group has no budget. */
const groupSpend = {
  group_id: Uuid.Uuid,
  spend_limit_micros: Schema.NullOr(Numbers.Count),
  /** Of all members whose spend is booked on the group. */
  total_spend_limit_micros: Schema.NullOr(Numbers.Count),
  current_spend_micros: Numbers.Count
}

const UserAiSpend = Schema.Struct({
  user_id: Uuid.Uuid,
  /** Null for a member of no organization. */
  effective_group_id: Schema.NullOr(Uuid.Uuid),
  /** Null has no bound. */
  effective_budget: Schema.NullOr(AiBudgetLimit),
  ...period,
  current_spend_micros: Numbers.Count
}).annotations({ identifier: "UserAISpendStatus" })

const GroupAiSpend = Schema.Struct({ ...period, ...groupSpend }).annotations({ identifier: "GroupAISpend" })

const GroupsAiSpend = Schema.Struct({
  ...period,
  groups: Schema.Array(Schema.Struct(groupSpend).annotations({ identifier: "OrganizationGroupAISpend" }))
}).annotations({ identifier: "OrganizationGroupsAISpend" })

const MembersAiSpend = Schema.Struct({
  ...period,
  members: Schema.Array(
    Schema.Struct({
      user_id: Uuid.Uuid,
      /** Null where it is a group of another organization, too. */
      effective_group_id: Schema.NullOr(Uuid.Uuid),
      /** Null where the member's spend is booked on another group, too. */
      group_budget: Schema.NullOr(AiBudgetLimit),
      group_spend_micros: Numbers.Count
    }).annotations({ identifier: "GroupMemberAISpend" })
  )
}).annotations({ identifier: "GroupMembersAISpend" })

const byId = Path({ group: Uuid.Uuid })
const user = Path({ user: Schema.String })
const ofUsers = StrictQuery({ user_ids: listOf(Uuid.Uuid) })

export const groupAiBudgets = HttpApiGroup.make("groupAiBudgets")
  .annotate(OpenApi.Description, "AI budgets and spend of groups.")
  .add(
    HttpApiEndpoint.get("getGroupAiBudget", "/api/v2/groups/:group/ai/budget")
      .annotateContext(
        operation("Get a group's AI budget", "Returns the AI budget of each member of a group for a period, in millionths of a US dollar.")
      )
      .setPath(byId)
      .addSuccess(GroupAiBudget)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("setGroupAiBudget", "/api/v2/groups/:group/ai/budget")
      .annotateContext(operation("Set a group's AI budget", "Sets the AI budget of each member of a group for a period."))
      .setPath(byId)
      .setPayload(Body({ spend_limit_micros: integer }))
      .addSuccess(GroupAiBudget)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.del("deleteGroupAiBudget", "/api/v2/groups/:group/ai/budget")
      .annotateContext(operation("Delete a group's AI budget", "Removes a group's bound on AI spend."))
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getGroupAiSpend", "/api/v2/groups/:group/ai/spend")
      .annotateContext(operation("Get a group's AI spend", "Returns the AI spend of a group in the current period, with its budget."))
      .setPath(byId)
      .addSuccess(GroupAiSpend)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getGroupMembersAiSpend", "/api/v2/groups/:group/members/ai/spend")
      .annotateContext(operation("Get AI spend by member", "Returns the AI spend of each member of a group in the current period."))
      .setPath(byId)
      .setUrlParams(ofUsers)
      .addSuccess(MembersAiSpend)
      .addError(refusals("NotFound", "Forbidden"))
  )
  // Judged in this order
  .middlewareEndpoints(GroupsLicensed)
  .middlewareEndpoints(AiLicensed)
  .middlewareEndpoints(Authenticated)

export const userAiBudgets = HttpApiGroup.make("userAiBudgets")
  .annotate(OpenApi.Description, "AI budgets and spend of users.")
  .add(
    HttpApiEndpoint.get("getAiBudgetOverride", "/api/v2/users/:user/ai/budget/override")
      .annotateContext(operation("Get a user's AI budget override", "Returns the bound that replaces the budgets of a user's groups."))
      .setPath(user)
      .addSuccess(UserAiBudgetOverride)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("setAiBudgetOverride", "/api/v2/users/:user/ai/budget/override")
      .annotateContext(
        operation("Set a user's AI budget override", "Gives a user a bound of its own, and names the group that its spend is booked on.")
      )
      .setPath(user)
      .setPayload(Body({ group_id: required(Uuid.Uuid), spend_limit_micros: integer }))
      .addSuccess(UserAiBudgetOverride)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.del("deleteAiBudgetOverride", "/api/v2/users/:user/ai/budget/override")
      .annotateContext(
        operation("Delete a user's AI budget override", "Removes a user's own bound, so that the budgets of its groups apply again.")
      )
      .setPath(user)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getUserAiSpend", "/api/v2/users/:user/ai/spend")
      .annotateContext(
        operation("Get a user's AI spend", "Returns the AI spend of a user in the current period, with the budget in force.")
      )
      .setPath(user)
      .addSuccess(UserAiSpend)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(AiLicensed)
  .middlewareEndpoints(Authenticated)

export const organizationAiSpend = HttpApiGroup.make("organizationAiSpend")
  .annotate(OpenApi.Description, "AI spend of organizations.")
  .add(
    HttpApiEndpoint.get("getGroupsAiSpend", "/api/v2/organizations/:organization/groups/ai/spend")
      .annotateContext(operation("Get AI spend by group", "Returns the AI spend of an organization's groups in the current period."))
      .setPath(Path({ organization: Schema.String }))
      .setUrlParams(StrictQuery({ group_ids: listOf(Uuid.Uuid) }))
      .addSuccess(GroupsAiSpend)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getGroupMembersAiSpendByName", "/api/v2/organizations/:organization/groups/:groupName/members/ai/spend")
      .annotateContext(
        operation(
          "Get AI spend by member of a named group",
          "Returns the AI spend of each member of a group, found by its name, in the current period."
        )
      )
      .setPath(Path({ organization: Schema.String, groupName: Schema.String }))
      .setUrlParams(ofUsers)
      .addSuccess(MembersAiSpend)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
  .middlewareEndpoints(GroupsLicensed)
  .middlewareEndpoints(AiLicensed)

export const aiSpendExport = HttpApiGroup.make("aiSpendExport")
  .annotate(OpenApi.Description, "AI spend for spreadsheets.")
  .add(
    HttpApiEndpoint.get("exportAiSpend", "/api/v2/organizations/:organization/ai/spend/export")
      .annotateContext(operation("Export AI spend", "Returns an organization's AI spend of a period as comma-separated values."))
      .setPath(Path({ organization: Schema.String }))
      .setUrlParams(StrictQuery({ period_start: text, period_end: text }))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/csv; charset=utf-8" }))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
  .middlewareEndpoints(AiLicensed)
