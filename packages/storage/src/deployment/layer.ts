/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/deployment"
import type { SqlClient } from "@effect/sql"
import type { Layer } from "effect"
import { layer as deploymentValues } from "./DeploymentValues.js"

export const layer = deploymentValues satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = {}
