/** How this area is wired: its services, its background work, and what it needs stored. */
import { together } from "../platform/wiring/Standing.js"
import type { AiBudgetRepository } from "./AiBudgetRepository.js"
import { AiBudgets } from "./AiBudgets.js"
import type { AiProviderRepository } from "./AiProvider.js"
import { AiProviders } from "./AiProviders.js"
import { AiSpend } from "./AiSpend.js"
import type { AiSpendRepository } from "./AiSpendRepository.js"

export const layer = together(AiBudgets.layer, AiProviders.layer, AiSpend.layer)

export const workers = []

export type Stored = AiBudgetRepository | AiProviderRepository | AiSpendRepository
