/** How this area is wired: its services, its background work, and what it needs stored. */
import type { AgentLinkRepository } from "./AgentLinkRepository.js"
import { AgentLinks } from "./AgentLinks.js"
import { Coordinator } from "./Coordinator.js"
import { exchangePeers } from "./PeerExchange.js"
import { NetworkState } from "./NetworkState.js"
import type { PeerRepository } from "./PeerRepository.js"
import { Relay } from "./relay/Relay.js"
import { RelayMaps } from "./RelayMaps.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(AgentLinks.layer, Coordinator.layer, NetworkState.layer, Relay.layer, RelayMaps.layer)

export const workers = [exchangePeers]

export type Stored = AgentLinkRepository | PeerRepository
