import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** The kind of settings. */
export type IdpSyncKind = "organization" | "group" | "role"

/** The scope and kind of settings; the nil UUID stands for the deployment. */
export interface IdpSyncKey {
  readonly kind: IdpSyncKind
  readonly organization_id: Uuid
}

/** Settings as JSON. */
export class IdpSyncRepository extends Context.Tag("@atelier/core/IdpSyncRepository")<
  IdpSyncRepository,
  {
    /** Those that have been written, by organization. */
    readonly find: (
      kind: IdpSyncKind,
      organizationIds: ReadonlyArray<Uuid>
    ) => Effect.Effect<ReadonlyArray<{ readonly organization_id: Uuid; readonly settings: unknown }>>
    /** As they are now, if they have been written; kept from other writers until the transaction ends, which has to write them. */
    readonly lock: (key: IdpSyncKey, at: Timestamp) => Effect.Effect<Option.Option<unknown>>
    readonly write: (key: IdpSyncKey, settings: unknown, at: Timestamp) => Effect.Effect<void>
    /** Removes a deleted id, or the name of a deleted role, from all mappings. A value that mapped only to it maps to nothing. */
    readonly unmap: (key: IdpSyncKey, deleted: string, at: Timestamp) => Effect.Effect<void>
  }
>() {}
