import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { type AclChanges, Grantees } from "../../groups/Grantees.js"
import { RightsRepository } from "../../organizations/RightsRepository.js"
import { withCurrentRights } from "../../organizations/CurrentRights.js"
import { Conflict, Forbidden, Invalid, type NotFound } from "../../platform/Errors.js"
import { parse } from "../../platform/texts/Uuid.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import { isPrebuild, missingWorkspace, type Workspace, type WorkspaceId } from "../Workspace.js"
import { workspaceRoleActions, workspaceRoleOf } from "./WorkspaceAcl.js"
import { workspaceSubject } from "../WorkspaceAudit.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceSharingRepository } from "./WorkspaceSharingRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { UserWithOrganizations } from "../../identity/users/User.js"
import type { GroupWithNames } from "../../groups/Group.js"
import type { Auditing } from "../../audit/Audit.js"

/** Roles by the ids of users and groups, as they were sent; an empty one takes what was given. */
export interface WorkspaceRoles {
  readonly user_roles: Readonly<Record<string, string>>
  readonly group_roles: Readonly<Record<string, string>>
}

/** Users and groups that a workspace is shared with, and their roles. */
export interface WorkspaceGrants {
  readonly users: { readonly user: UserWithOrganizations; readonly role: "" | "use" | "admin" }[]
  readonly groups: { readonly group: GroupWithNames; readonly role: "" | "use" | "admin" }[]
}

/** The methods of {@link WorkspaceSharing}. */
export interface WorkspaceSharingService {
  /** With whom a workspace is shared: users who are not deleted, and groups without their members. authorization.md §12.2. */
  readonly get: (id: WorkspaceId) => Effect.Effect<WorkspaceGrants, NotFound, CurrentActor>

  /**
   * Gives and takes roles on a workspace; users and groups that are not named keep theirs. Fails with `Forbidden` if the organization
   * shares no workspaces or the actor may not share this one, and `Invalid` with an entry for each error, or for the actor's own role.
   * authorization.md §12.2.
   */
  readonly change: (
    id: WorkspaceId,
    roles: WorkspaceRoles
  ) => Effect.Effect<undefined, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Removes all shares of a workspace. Fails with `Forbidden` as `change` does. */
  readonly clear: (id: WorkspaceId) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const repository = yield* WorkspaceSharingRepository
  const grantees = yield* Grantees
  const rights = yield* RightsRepository

  /** A workspace that the actor may read, deleted or not. */
  const load = (id: WorkspaceId) => Effect.flatMap(workspaces.byId(id), (found) => visibleWorkspace(found))

  /**
   * Changes the ACLs of a workspace that the actor may share, in an organization with sharing enabled. `read` returns the change and locks
   * the users and groups it names, so that a concurrent deletion waits, or the change sees that they are deleted.
   */
  const write = <E, R>(found: Workspace, read: Effect.Effect<AclChanges, E, R>) =>
    Audit.audited(
      workspaceSubject(found, "write"),
      Effect.gen(function* () {
        yield* Access.authorize("share", AccessObjects.workspace(found))
        if (isPrebuild(found)) return yield* new Conflict({ message: "A prebuilt workspace cannot be shared before it is claimed." })
        const changed = yield* read
        // Locked before the workspace: ending the sharing waits for this change, or this change sees that sharing has ended
        const mode = Option.getOrUndefined(yield* repository.lockShareMode(found.organization_id))
        if (mode === "none") return yield* new Forbidden({ message: "Workspaces of this organization are not shared." })
        const before = yield* Effect.mapError(Effect.flatten(repository.lock(found.id)), () => missingWorkspace)
        // The actor's rights under the current mode
        yield* withCurrentRights(rights)(Access.authorize("share", AccessObjects.workspace(before)))
        const after: Workspace = { ...before, ...(yield* changed(before)) }
        yield* repository.setAcls(after)
        return { value: undefined, before, after }
      })
    )

  return {
    get: Traced.fn("WorkspaceSharing.get")(function* (id: WorkspaceId) {
      const workspace = yield* load(id)
      const { groups, users } = yield* grantees.of(workspace)
      return {
        users: users.map((user) => ({ user, role: workspaceRoleOf(workspace.user_acl[user.id] ?? []) })),
        groups: groups.map((group) => ({ group, role: workspaceRoleOf(workspace.group_acl[group.id] ?? []) }))
      }
    }),

    change: Traced.fn("WorkspaceSharing.change")(function* (id: WorkspaceId, { group_roles, user_roles }: WorkspaceRoles) {
      const found = yield* load(id)
      const { userId } = yield* CurrentActor
      const namesSelf = Object.keys(user_roles).some((key) => parse(key) === userId)
      // Judged before the right to share, which the role that the actor names may have
      if (namesSelf && !(yield* Access.can("share", AccessObjects.inOrganization("workspace", found.organization_id)))) {
        return yield* Invalid.field("user_roles", "you cannot change your own role")
      }
      yield* write(
        found,
        grantees.change(
          { field: "user_roles", roles: user_roles },
          { field: "group_roles", roles: group_roles },
          workspaceRoleActions,
          found.organization_id
        )
      )
    }),

    clear: Traced.fn("WorkspaceSharing.clear")(function* (id: WorkspaceId) {
      yield* write(yield* load(id), grantees.clearing)
    })
  }
})

/** With whom workspaces are shared. */
export class WorkspaceSharing extends Context.Tag("@atelier/core/WorkspaceSharing")<WorkspaceSharing, WorkspaceSharingService>() {
  static readonly layer = standingOn(service(WorkspaceSharing, make), Grantees.layer)
}
