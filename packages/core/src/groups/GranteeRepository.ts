import { Context, type Effect } from "effect"
import type { UserId, UserWithOrganizations } from "../identity/users/User.js"

/** Who ACLs name. */
export class GranteeRepository extends Context.Tag("@atelier/core/GranteeRepository")<
  GranteeRepository,
  {
    /** Those of the users that are not deleted, by username. */
    readonly users: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserWithOrganizations>>
  }
>() {}
