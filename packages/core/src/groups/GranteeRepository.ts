import { Context, type Effect } from "effect"
import type { UserId, UserWithOrganizations } from "../identity/users/User.js"
import type { GroupId } from "./Group.js"

/** Who ACLs name. */
export class GranteeRepository extends Context.Tag("@atelier/core/GranteeRepository")<
  GranteeRepository,
  {
    /** Those of the users that are not deleted, by username. */
    readonly users: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserWithOrganizations>>
    /** Those of the users that are not deleted; nobody changes or deletes them until the transaction ends. */
    readonly holdUsers: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserId>>
    /** Those of the groups that there are; nobody deletes them until the transaction ends. */
    readonly holdGroups: (ids: ReadonlyArray<GroupId>) => Effect.Effect<ReadonlyArray<GroupId>>
  }
>() {}
