/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/logs"
import { Layer } from "effect"
import { layer as audit } from "./AuditLogRepository.js"
import { layer as connections } from "./ConnectionLogRepository.js"
import logsMigration from "./migrations/0200_logs.js"
import connectionReplicasMigration from "./migrations/0570_connection_replicas.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(audit, connections) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0200_logs": logsMigration, "0570_connection_replicas": connectionReplicasMigration }
