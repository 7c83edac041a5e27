/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/network"
import { Layer } from "effect"
import { layer as agentLinks } from "./AgentLinkRepository.js"
import networkPeers from "./migrations/0370_network_peers.js"
import agentLinksMigration from "./migrations/0460_agent_links.js"
import { layer as peers } from "./PeerRepository.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(agentLinks, peers) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0370_network_peers": networkPeers, "0460_agent_links": agentLinksMigration }
