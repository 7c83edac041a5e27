/** Other places from which apps and terminals of workspaces are served. agents-and-apps.md §21. */
import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

export interface WorkspaceProxy {
  readonly id: Uuid
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly deleted: boolean
  /** Unique among those not deleted, without regard to case. */
  readonly name: string
  readonly display_name: string
  readonly icon: string
  /** Where it is reached; empty until it has registered. */
  readonly url: string
  /** The pattern of host names of its apps; empty for none. */
  readonly wildcard_hostname: string
  /** It relays packets of the private network. */
  readonly derp_enabled: boolean
  /** It does nothing but relay. */
  readonly derp_only: boolean
  /** Counts proxies from 1: its number among the relays follows from it. */
  readonly region_id: number
  readonly version: string
}

/** A process of a proxy with its last report of itself. */
export interface ProxyReplica {
  readonly id: Uuid
  readonly proxy_id: Uuid
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly stopped_at: Timestamp | null
  readonly hostname: string
  /** Where the relays of its siblings reach it. */
  readonly relay_address: string
  readonly error: string
}

export class WorkspaceProxyRepository extends Context.Tag("@atelier/core/WorkspaceProxyRepository")<
  WorkspaceProxyRepository,
  {
    /** Those not deleted, by name. */
    readonly list: Effect.Effect<ReadonlyArray<WorkspaceProxy>>
    /** By id or by its exact name, unless it is deleted. */
    readonly find: (by: { readonly id: Uuid } | { readonly name: string }) => Effect.Effect<Option.Option<WorkspaceProxy>>
    /** A proxy that is not deleted, with the hash of its secret. */
    readonly withSecret: (id: Uuid) => Effect.Effect<Option.Option<{ readonly proxy: WorkspaceProxy; readonly hashedSecret: Uint8Array }>>
    /** Keeps it from being changed by others until the transaction ends. */
    readonly lock: (id: Uuid) => Effect.Effect<Option.Option<WorkspaceProxy>>
    /** Stores a proxy under the next number. */
    readonly insert: (proxy: Omit<WorkspaceProxy, "region_id">, hashedSecret: Uint8Array) => Effect.Effect<WorkspaceProxy, Duplicate>
    readonly update: (proxy: WorkspaceProxy) => Effect.Effect<void, Duplicate>
    readonly setSecret: (id: Uuid, hashedSecret: Uint8Array) => Effect.Effect<void>
    readonly replica: (id: Uuid) => Effect.Effect<Option.Option<ProxyReplica>>
    /** Stores what a process tells of itself, in place of what it told before. */
    readonly putReplica: (replica: ProxyReplica) => Effect.Effect<void>
    /** The processes of a proxy that have told of themselves since a time and have not stopped, the oldest first. */
    readonly replicasSince: (proxy: Uuid, since: Timestamp) => Effect.Effect<ReadonlyArray<ProxyReplica>>
    /** Forgets processes that have told nothing since a time. */
    readonly removeReplicasBefore: (time: Timestamp) => Effect.Effect<void>
  }
>() {}
