export * as Audit from "./Audit.js"
export * from "./AuditEntry.js"
export * from "./AuditRepository.js"
export * from "./Tracked.js"
