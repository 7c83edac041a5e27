/** How this area is wired: its services, its background work, and what it needs stored. */
import { AccessChecks } from "./checks/AccessChecks.js"
import { StreamRights } from "./streams/StreamRights.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(AccessChecks.layer, StreamRights.layer)

export const workers = []

export type Stored = never
