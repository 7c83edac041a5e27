/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/externalAuth"
import { Layer } from "effect"
import { layer as externalAuth } from "./ExternalAuthRepository.js"
import externalAuthMigration from "./migrations/0240_external_auth.js"
import type { Statements } from "../platform/Statements.js"

export const layer = externalAuth satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0240_external_auth": externalAuthMigration }
