/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/audit"
import type { Layer } from "effect"
import { layer as audit } from "./AuditRepository.js"
import auditMigration from "./migrations/0070_audit.js"
import type { Statements } from "../platform/Statements.js"

export const layer = audit satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0070_audit": auditMigration }
