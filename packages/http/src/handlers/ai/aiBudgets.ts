import { AiBudgets, AiSpend } from "@atelier/core/ai"
import { Effect } from "effect"
import * as contract from "../../contract/ai/aiBudgets.js"
import { attachment } from "../../server/codec/streams.js"
import * as Handlers from "../Handlers.js"

export const groupAiBudgets = Handlers.group(contract.groupAiBudgets, (handlers) =>
  Effect.gen(function* () {
    const budgets = yield* AiBudgets
    const spend = yield* AiSpend
    return handlers
      .handle("getGroupAiBudget", ({ path }) => budgets.get(path.group))
      .handle("setGroupAiBudget", ({ path, payload }) => budgets.set(path.group, payload.spend_limit_micros))
      .handle("deleteGroupAiBudget", ({ path }) => budgets.delete(path.group))
      .handle("getGroupAiSpend", ({ path }) => spend.ofGroup(path.group))
      .handle("getGroupMembersAiSpend", ({ path, urlParams }) => spend.ofMembers(path.group, urlParams.user_ids))
  })
)

export const userAiBudgets = Handlers.group(contract.userAiBudgets, (handlers) =>
  Effect.gen(function* () {
    const budgets = yield* AiBudgets
    const spend = yield* AiSpend
    return handlers
      .handle("getAiBudgetOverride", ({ path }) => budgets.override(path.user))
      .handle("setAiBudgetOverride", ({ path, payload }) => budgets.setOverride(path.user, payload))
      .handle("deleteAiBudgetOverride", ({ path }) => budgets.deleteOverride(path.user))
      .handle("getUserAiSpend", ({ path }) => spend.ofUser(path.user))
  })
)

export const organizationAiSpend = Handlers.group(contract.organizationAiSpend, (handlers) =>
  Effect.map(AiSpend, (spend) =>
    handlers
      .handle("getGroupsAiSpend", ({ path, urlParams }) => spend.ofGroups(path.organization, urlParams.group_ids))
      .handle("getGroupMembersAiSpendByName", ({ path, urlParams }) =>
        spend.ofMembersByName(path.organization, path.groupName, urlParams.user_ids)
      )
  )
)

export const aiSpendExport = Handlers.group(contract.aiSpendExport, (handlers) =>
  Effect.map(AiSpend, (spend) =>
    handlers.handle("exportAiSpend", ({ path, urlParams }) =>
      Effect.flatMap(spend.export(path.organization, urlParams), ({ content, filename }) =>
        attachment(content, { contentType: "text/csv; charset=utf-8", filename })
      )
    )
  )
)
