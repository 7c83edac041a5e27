/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/ai"
import { together } from "@atelier/core/platform"
import { Layer } from "effect"
import { layer as aiBudgets } from "./AiBudgetRepository.js"
import { layer as aiProviders } from "./AiProviderRepository.js"
import { layer as aiSpend } from "./AiSpendRepository.js"
import aiBudgetsMigration from "./migrations/0096_ai_budgets.js"
import aiProvidersMigration from "./migrations/0261_ai_providers.js"
import type { Statements } from "../platform/Statements.js"

export const layer = together(aiBudgets, aiProviders, aiSpend) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0096_ai_budgets": aiBudgetsMigration, "0261_ai_providers": aiProvidersMigration }
