import { Context, type Effect, type Option } from "effect"
import type { OrganizationId, ShareMode } from "../../organizations/Organization.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"

/** With whom workspaces are shared. */
export class WorkspaceSharingRepository extends Context.Tag("@atelier/core/WorkspaceSharingRepository")<
  WorkspaceSharingRepository,
  {
    /** The owners whose workspaces may be shared in an organization, locked until the transaction ends. */
    readonly lockShareMode: (id: OrganizationId) => Effect.Effect<Option.Option<ShareMode>>
    /** A workspace that is not deleted, kept from other writers until the transaction ends. */
    readonly lock: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>>
    readonly setAcls: (workspace: Pick<Workspace, "id" | "user_acl" | "group_acl">) => Effect.Effect<void>
  }
>() {}
