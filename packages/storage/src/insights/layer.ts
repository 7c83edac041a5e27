/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/insights"
import type { SqlClient } from "@effect/sql"
import { Layer } from "effect"
import { layer as insights } from "./InsightsRepository.js"
import { layer as metrics } from "./MetricsRepository.js"
import insightsMigration from "./migrations/0201_insights.js"
import { together } from "@atelier/core/platform"

export const layer = together(insights, metrics) satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = { "0201_insights": insightsMigration }
