/** How this area is stored: its repository and its migration. */
import type { Stored } from "@atelier/core/retention"
import { Layer } from "effect"
import { layer as retention } from "./RetentionRepository.js"
import retentionMigration from "./migrations/0250_retention.js"
import type { Statements } from "../platform/Statements.js"

export const layer = retention satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0250_retention": retentionMigration }
