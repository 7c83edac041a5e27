import { Context, type Effect } from "effect"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { PeerId } from "./Coordination.js"
import type { PeerState } from "./Coordinator.js"

/** A peer, and the process that it is connected to. */
export interface StoredPeer extends PeerState {
  readonly replica_id: Uuid
}

export class PeerRepository extends Context.Tag("@atelier/core/PeerRepository")<
  PeerRepository,
  {
    /**
     * Stores peers in place of what was known of them, except where a later connection of the same peer is stored to a process that has told of
     * itself since a time. Of equal times, the process with the greater id keeps the peer.
     */
    readonly put: (peers: ReadonlyArray<StoredPeer>, aliveSince: Timestamp) => Effect.Effect<void>
    /** Removes peers that are connected to a process. All go with the process. */
    readonly remove: (replica: Uuid, ids: ReadonlyArray<PeerId>) => Effect.Effect<void>
    readonly byIds: (ids: ReadonlyArray<PeerId>) => Effect.Effect<ReadonlyArray<StoredPeer>>
    /** The peers of all processes. */
    readonly all: Effect.Effect<ReadonlyArray<StoredPeer>>
  }
>() {}
