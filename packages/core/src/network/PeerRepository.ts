import { Context, type Effect } from "effect"
import type { Uuid } from "../platform/Uuid.js"
import type { PeerId } from "./Coordination.js"
import type { PeerState } from "./Coordinator.js"

/** A peer, and the process that it is connected to. */
export interface StoredPeer extends PeerState {
  readonly replica_id: Uuid
}

export class PeerRepository extends Context.Tag("@atelier/core/PeerRepository")<
  PeerRepository,
  {
    /** Stores peers in place of what was known of them, except where a later connection of the same peer is stored. */
    readonly put: (peers: ReadonlyArray<StoredPeer>) => Effect.Effect<void>
    /** Removes peers that are connected to a process. All go with the process. */
    readonly remove: (replica: Uuid, ids: ReadonlyArray<PeerId>) => Effect.Effect<void>
    readonly byIds: (ids: ReadonlyArray<PeerId>) => Effect.Effect<ReadonlyArray<StoredPeer>>
    /** The peers of all processes but one. */
    readonly exceptOf: (replica: Uuid) => Effect.Effect<ReadonlyArray<StoredPeer>>
  }
>() {}
