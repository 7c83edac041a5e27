import { Context, type Effect } from "effect"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"

/** A process that an agent is connected to. */
export interface LinkHolder {
  readonly replica_id: Uuid
  /** Where other processes reach it; empty where they do not. */
  readonly relay_address: string
}

/** An agent that is connected to a process. */
export interface StoredLink {
  readonly agent_id: Uuid
  readonly replica_id: Uuid
  readonly connected_at: Timestamp
}

/** Which processes agents are connected to. */
export class AgentLinkRepository extends Context.Tag("@atelier/core/AgentLinkRepository")<
  AgentLinkRepository,
  {
    /** Notes that agents are connected to processes, in one statement. Those that are noted so are not written. */
    readonly put: (links: ReadonlyArray<StoredLink>) => Effect.Effect<void>
    readonly remove: (agent: Uuid, replica: Uuid) => Effect.Effect<void>
    /** The processes but one that an agent is connected to and that have told of themselves since a time: at most three, the last one first. */
    readonly holders: (agent: Uuid, except: Uuid, aliveSince: Timestamp) => Effect.Effect<ReadonlyArray<LinkHolder>>
  }
>() {}
