/** How this area is wired: its services, its background work, and what it needs stored. */
import { AgentLinks } from "./AgentLinks.js"

export const layer = AgentLinks.layer

export const workers = []

export type Stored = never
