/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/network"
import type { SqlClient } from "@effect/sql"
import type { Layer } from "effect"
import networkPeers from "./migrations/0370_network_peers.js"
import { layer as peers } from "./PeerRepository.js"

export const layer = peers satisfies Layer.Layer<Stored, never, SqlClient.SqlClient>

export const migrations = { "0370_network_peers": networkPeers }
