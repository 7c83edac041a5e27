/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import type { AuditRepository } from "./AuditRepository.js"

export const layer = Layer.empty

export const workers = []

export type Stored = AuditRepository
