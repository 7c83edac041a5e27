/** The processes that serve the deployment, as the store knows them. deployment.md §8. */
import { Context, type Effect, type Option } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"
import type * as Timestamp from "../platform/time/Timestamp.js"

/** A process with its last report of itself. */
export interface Replica {
  readonly id: Uuid
  readonly hostname: string
  readonly created_at: Timestamp.Timestamp
  /** Where other processes reach the relay of this one; empty without a relay. */
  readonly relay_address: string
  readonly region_id: number
  /** Why other replicas cannot be reached; empty while they can. */
  readonly error: string
  /** Microseconds that a statement took. */
  readonly database_latency: number
  readonly updated_at: Timestamp.Timestamp
}

/** A process that tells nothing of itself, with the time at which it last did. */
export type SilentReplica = Pick<Replica, "id" | "updated_at">

export class ReplicaRepository extends Context.Tag("@atelier/core/ReplicaRepository")<
  ReplicaRepository,
  {
    /** Stores what a process tells of itself, in place of what it told before. */
    readonly put: (replica: Replica) => Effect.Effect<void>
    /** The clock of the store; None where no other process shares the store. */
    readonly time: Effect.Effect<Option.Option<Timestamp.Timestamp>>
    readonly remove: (id: Uuid) => Effect.Effect<void>
    readonly removeBefore: (time: Timestamp.Timestamp) => Effect.Effect<void>
    /** Processes that are stored and have not told of themselves since a time. */
    readonly silentSince: (time: Timestamp.Timestamp) => Effect.Effect<ReadonlyArray<SilentReplica>>
    /** Sets back the time at which a process told of itself, unless it has done so again. */
    readonly setBack: (replica: SilentReplica, time: Timestamp.Timestamp) => Effect.Effect<void>
    /** Processes that have told of themselves since a time, the oldest first. */
    readonly since: (time: Timestamp.Timestamp) => Effect.Effect<ReadonlyArray<Replica>>
  }
>() {}
