import { Context, Effect, Layer } from "effect"
import { Entitlements } from "../deployment/Entitlements.js"
import { Users } from "../identity/users/Users.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { OrganizationRepository } from "../organizations/OrganizationRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { type Quota, unbounded } from "./Quota.js"
import { QuotaRepository } from "./QuotaRepository.js"
import { standingOn } from "../platform/Standing.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const organizations = yield* Organizations
  const organizationRepository = yield* OrganizationRepository
  const repository = yield* QuotaRepository

  const quotaOf = (organizationId: OrganizationId, reference: string) =>
    Effect.gen(function* () {
      const { id } = yield* users.get(reference)
      const licensed = yield* Entitlements
      const quota: Quota = {
        budget: licensed.has("template_rbac") ? yield* repository.budget(organizationId, id) : unbounded,
        credits_consumed: yield* repository.consumed(organizationId, id)
      }
      return quota
    })

  return {
    /**
     * The budget and spend of a user, a member or not, in an organization. Fails with `NotFound` if the actor may not read one of them.
     * authorization.md §10.
     */
    inOrganization: Effect.fn("WorkspaceQuotas.inOrganization")(function* (organization: string, user: string) {
      const { id } = yield* organizations.get(organization)
      return yield* quotaOf(id, user)
    }),

    /** As `inOrganization`, in the default one, which the actor need not be able to read. */
    inDefault: Effect.fn("WorkspaceQuotas.inDefault")(function* (user: string) {
      const { id } = yield* Effect.flatMap(organizationRepository.default, Effect.orDie)
      return yield* quotaOf(id, user)
    })
  }
})

/** Limits on users' spend on workspaces. */
export class WorkspaceQuotas extends Context.Tag("@atelier/core/WorkspaceQuotas")<WorkspaceQuotas, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(WorkspaceQuotas, make), Users.layer, Organizations.layer)
}
