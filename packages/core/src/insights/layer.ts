/** How this area is wired: its services, its background work, and what it needs stored. */
import * as Worker from "../platform/background/Worker.js"
import { AppVisits } from "./AppVisits.js"
import { Health } from "./health/Health.js"
import { Insights } from "./Insights.js"
import type { InsightsRepository } from "./InsightsRepository.js"
import { DeploymentMetrics } from "./metrics/DeploymentMetrics.js"
import type { MetricsRepository } from "./metrics/MetricsRepository.js"
import { Profiles } from "./profiles/Profiles.js"
import { usageRollup } from "./Rollup.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(AppVisits.layer, DeploymentMetrics.layer, Health.layer, Insights.layer, Profiles.layer)

export const workers = [Worker.start(usageRollup)]

export type Stored = InsightsRepository | MetricsRepository
