import { Context, type Effect, type Option } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { SealedColumn } from "../../platform/store/Resealing.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { WorkspaceId } from "../Workspace.js"

/** The keys by which SSH clients know workspaces. */
export class HostKeyRepository extends Context.Tag("@atelier/core/HostKeyRepository")<
  HostKeyRepository,
  {
    /** A workspace's encrypted key. */
    readonly of: (id: WorkspaceId) => Effect.Effect<Option.Option<Sealed>>
    /** Stores a workspace's key if it has none, or has `unreadable`. Returns the key that is stored afterwards. */
    readonly keep: (id: WorkspaceId, key: Sealed, unreadable: Sealed | undefined, now: Timestamp) => Effect.Effect<Sealed>
    /** Deletes the keys of deleted workspaces, and returns their number. */
    readonly forgetDeleted: Effect.Effect<number>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
  }
>() {}
