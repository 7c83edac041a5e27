import { Context, type Effect } from "effect"
import type { UserId, UserWithOrganizations } from "../identity/users/User.js"
import type { GroupId } from "./Group.js"

/** The users and groups that ACLs name. */
export class GranteeRepository extends Context.Tag("@atelier/core/GranteeRepository")<
  GranteeRepository,
  {
    /** Those of the users that are not deleted, by username. */
    readonly users: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserWithOrganizations>>
    /** The given users that are not deleted, locked against changes and deletion until the transaction ends. */
    readonly lockUsers: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserId>>
    /** The given groups that exist, locked against deletion until the transaction ends. */
    readonly lockGroups: (ids: ReadonlyArray<GroupId>) => Effect.Effect<ReadonlyArray<GroupId>>
  }
>() {}
