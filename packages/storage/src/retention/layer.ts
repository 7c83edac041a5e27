/** How this area is stored: its repository and its migration. */
import type { Stored } from "@atelier/core/retention"
import type { SqlClient } from "@effect/sql"
import { Layer } from "effect"
import { layer as retention } from "./RetentionRepository.js"
import retentionMigration from "./migrations/0250_retention.js"

export const layer = retention satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = { "0250_retention": retentionMigration }
