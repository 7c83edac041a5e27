/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import * as Worker from "../platform/Worker.js"
import { AuditLogs } from "./AuditLogs.js"
import type { AuditLogRepository } from "./AuditLogRepository.js"
import type { ConnectionLogRepository } from "./ConnectionLogRepository.js"
import { ConnectionLogs, visitCleaner } from "./ConnectionLogs.js"

export const layer = Layer.mergeAll(AuditLogs.layer, ConnectionLogs.layer)

export const workers = [Worker.start(visitCleaner)]

export type Stored = AuditLogRepository | ConnectionLogRepository
