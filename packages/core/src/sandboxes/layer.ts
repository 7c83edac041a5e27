/** How this area is wired: its services, its background work, and what it needs stored. */
import { MachineAccess } from "./MachineAccess.js"
import { MachineSessions } from "./MachineSessions.js"
import { SshLogins } from "./SshLogins.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(MachineAccess.layer, MachineSessions.layer, SshLogins.layer)

export const workers = []

export type Stored = never
