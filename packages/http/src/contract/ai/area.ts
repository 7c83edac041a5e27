/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { aiSpendExport, groupAiBudgets, organizationAiSpend, userAiBudgets } from "./aiBudgets.js"
import { aiProviders } from "./aiProviders.js"

export const area = HttpApi.make("ai").add(aiSpendExport).add(groupAiBudgets).add(organizationAiSpend).add(userAiBudgets).add(aiProviders)
