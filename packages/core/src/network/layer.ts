/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import { AgentLinks } from "./AgentLinks.js"
import { Coordinator } from "./Coordinator.js"
import { Relay } from "./relay/Relay.js"
import { RelayMaps } from "./RelayMaps.js"

export const layer = Layer.mergeAll(AgentLinks.layer, Coordinator.layer, Relay.layer, RelayMaps.layer)

export const workers = []

export type Stored = never
