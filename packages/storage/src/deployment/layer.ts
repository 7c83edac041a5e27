/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/deployment"
import type { SqlClient } from "@effect/sql"
import { Layer } from "effect"
import { layer as deploymentValues } from "./DeploymentValues.js"
import { layer as externalAuth } from "./ExternalAuthRepository.js"
import externalAuthMigration from "./migrations/0240_external_auth.js"

export const layer = Layer.mergeAll(deploymentValues, externalAuth) satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = { "0240_external_auth": externalAuthMigration }
