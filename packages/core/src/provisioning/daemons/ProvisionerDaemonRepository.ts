import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { DaemonStatus, ProvisionerDaemon, ProvisionerDaemonId } from "./ProvisionerDaemon.js"
import type { ProvisionerTags } from "../queue/ProvisionerTags.js"

/** The filter of a list of daemons. Absent fields do not restrict it. */
export interface DaemonFilter {
  readonly organization_id: Uuid
  readonly ids?: ReadonlyArray<ProvisionerDaemonId> | undefined
  /** All of them have to be tags of the daemon. */
  readonly tags?: ProvisionerTags | undefined
  readonly statuses: ReadonlyArray<DaemonStatus>
  /** Drops daemons last seen before; those never seen stay. */
  readonly seen_since?: Timestamp | undefined
  /** Idle daemons were seen since this instant. */
  readonly alive_since: Timestamp
  /** 0 has no limit. */
  readonly limit: number
}

/** A daemon with the jobs it works on and completed last. */
export interface DaemonWithJobs extends ProvisionerDaemon {
  readonly current_job_id: Uuid | null
  readonly previous_job_id: Uuid | null
}

export class ProvisionerDaemonRepository extends Context.Tag("@atelier/core/ProvisionerDaemonRepository")<
  ProvisionerDaemonRepository,
  {
    /**
     * Stores a daemon, or takes over the one with the same organization, name and owner tag, which keeps its id and creation. Answers the
     * daemon as it is stored. `engines` are the names of its engines, null if it has not told them.
     */
    readonly register: (daemon: ProvisionerDaemon, engines: ReadonlyArray<string> | null) => Effect.Effect<ProvisionerDaemon>
    /**
     * As `register`, for a daemon inside a server process. Returns None if the name belongs to another process: one that has not released
     * it and was seen after `free_since`.
     */
    readonly registerEmbedded: (
      daemon: ProvisionerDaemon,
      owner: { readonly process_id: Uuid; readonly free_since: Timestamp; readonly engines: ReadonlyArray<string> }
    ) => Effect.Effect<Option.Option<ProvisionerDaemon>>
    /** Gives up the names of a process's daemons, so that another process can take them at once. */
    readonly release: (processId: Uuid) => Effect.Effect<void>
    /** Notes that the daemons are alive. */
    readonly seen: (ids: ReadonlyArray<ProvisionerDaemonId>, at: Timestamp) => Effect.Effect<void>
    /** Newest first. templates-and-provisioning.md §7.1. */
    readonly list: (filter: DaemonFilter) => Effect.Effect<ReadonlyArray<DaemonWithJobs>>
    readonly names: (
      ids: ReadonlyArray<ProvisionerDaemonId>
    ) => Effect.Effect<ReadonlyArray<{ readonly id: ProvisionerDaemonId; readonly name: string }>>
    /** Removes daemons that were not heard since an instant. */
    readonly deleteUnseen: (since: Timestamp) => Effect.Effect<void>
  }
>() {}
