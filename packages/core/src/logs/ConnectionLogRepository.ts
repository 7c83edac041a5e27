import { Context, type Effect } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ConnectionStatus, ConnectionType, FoundConnection, WrittenConnection } from "./ConnectionLog.js"

/** The filter of the connection log. Absent fields do not restrict it. Names and addresses are in lower case. */
export interface ConnectionFilter {
  readonly organization_id?: Uuid | undefined
  readonly workspace_owner_id?: Uuid | undefined
  readonly workspace_owner?: string | undefined
  readonly workspace_owner_email?: string | undefined
  readonly type?: ConnectionType | undefined
  readonly user_id?: Uuid | undefined
  readonly username?: string | undefined
  readonly user_email?: string | undefined
  /** Both bounds belong to what they allow. */
  readonly connected_after?: Timestamp | undefined
  readonly connected_before?: Timestamp | undefined
  readonly workspace_id?: Uuid | undefined
  readonly connection_id?: Uuid | undefined
  readonly status?: ConnectionStatus | undefined
}

export interface ConnectionQuery {
  /** Of type `connection_log` and action `read`. */
  readonly readable: AccessPredicate
  readonly filter: ConnectionFilter
}

export class ConnectionLogRepository extends Context.Tag("@atelier/core/ConnectionLogRepository")<
  ConnectionLogRepository,
  {
    /** Stores entries, each of another connection, and merges them with what is stored of the same connections. */
    readonly upsert: (entries: ReadonlyArray<WrittenConnection>) => Effect.Effect<void>
    /**
     * Ends connections from before `since` that a process other than `own` carries, which has not told of itself since: at the time when it did so
     * last, or at `now` if that is not known. Returns their number, at most `limit`.
     */
    readonly endAbandoned: (ends: {
      readonly own: Uuid
      readonly since: Timestamp
      readonly now: Timestamp
      readonly reason: string
      readonly limit: number
    }) => Effect.Effect<number>
    /** Marks a session of visits as seen. True if it was not seen since `since`. */
    readonly beginVisit: (key: string, now: Timestamp, since: Timestamp) => Effect.Effect<boolean>
    /** Forgets sessions of visits that were last seen before. */
    readonly forgetVisits: (before: Timestamp) => Effect.Effect<void>
    /** Entries, newest first, in one statement however many they are. */
    readonly page: (
      query: ConnectionQuery & { readonly limit: number; readonly offset: number }
    ) => Effect.Effect<ReadonlyArray<FoundConnection>>
    /** How many entries there are, counted up to a maximum. */
    readonly count: (query: ConnectionQuery, maximum: number) => Effect.Effect<number>
  }
>() {}
