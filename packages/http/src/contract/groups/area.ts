/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { groups, organizationGroups } from "./groups.js"
import { aiSpendExport, groupAiBudgets, organizationAiSpend, userAiBudgets } from "./aiBudgets.js"

export const area = HttpApi.make("groups")
  .add(groups)
  .add(organizationGroups)
  .add(aiSpendExport)
  .add(groupAiBudgets)
  .add(organizationAiSpend)
  .add(userAiBudgets)
