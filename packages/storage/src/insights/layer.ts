/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/insights"
import { Layer } from "effect"
import { layer as insights } from "./InsightsRepository.js"
import { layer as metrics } from "./MetricsRepository.js"
import insightsMigration from "./migrations/0201_insights.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(insights, metrics) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0201_insights": insightsMigration }
