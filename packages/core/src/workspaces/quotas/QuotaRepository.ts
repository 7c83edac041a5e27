import { Context, type Effect } from "effect"
import type { UserId } from "../../identity/users/User.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

export class QuotaRepository extends Context.Tag("@atelier/core/QuotaRepository")<
  QuotaRepository,
  {
    /** Lets no other build of the user's workspaces be paid for until the transaction ends. */
    readonly lock: (userId: UserId) => Effect.Effect<void>
    /** The total allowance of the user's groups in the organization, including Everyone for a member. */
    readonly budget: (organizationId: OrganizationId, userId: UserId) => Effect.Effect<number>
    /** The total cost of the latest builds of a user's workspaces in the organization, except one build. Deleted workspaces cost nothing. */
    readonly consumed: (organizationId: OrganizationId, userId: UserId, exceptBuild?: Uuid) => Effect.Effect<number>
    /** Writes what a build costs a day. */
    readonly charge: (buildId: Uuid, cost: number) => Effect.Effect<void>
  }
>() {}
