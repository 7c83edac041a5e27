/** How this area is wired: its services, its background work, and what it needs stored. */
import * as Worker from "../platform/background/Worker.js"
import { AuditLogs } from "./AuditLogs.js"
import type { AuditLogRepository } from "./AuditLogRepository.js"
import type { ConnectionLogRepository } from "./ConnectionLogRepository.js"
import { abandonedEnder, ConnectionLogs, visitCleaner } from "./ConnectionLogs.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(AuditLogs.layer, ConnectionLogs.layer)

export const workers = [Worker.start(visitCleaner), Worker.start(abandonedEnder)]

export type Stored = AuditLogRepository | ConnectionLogRepository
