/** How this area is wired: its services, its background work, and what it needs stored. */
import * as Worker from "../platform/Worker.js"
import { Insights } from "./Insights.js"
import type { InsightsRepository } from "./InsightsRepository.js"
import { usageRollup } from "./Rollup.js"

export const layer = Insights.layer

export const workers = [Worker.start(usageRollup)]

export type Stored = InsightsRepository
