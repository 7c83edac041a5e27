import { Context, Effect, Option } from "effect"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { Users } from "../../identity/users/Users.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Organizations } from "../../organizations/Organizations.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { ClaimLost } from "../../provisioning/queue/JobEnding.js"
import type { ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import { insufficientQuota, type JobWork, quotaStage } from "../../provisioning/jobs/WorkspaceBuildJobs.js"
import { affordable, type Quota, unbounded } from "./Quota.js"
import { QuotaRepository } from "./QuotaRepository.js"
import type { Workspace } from "../Workspace.js"
import { previousBuild } from "../builds/PreviousBuild.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { NotFound } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** The methods of {@link WorkspaceQuotas}. */
export interface WorkspaceQuotasService {
  /**
   * The budget and spend of a user, a member or not, in an organization. Fails with `NotFound` if the actor may not read one of them.
   * authorization.md §10.
   */
  readonly inOrganization: (organization: string, user: string) => Effect.Effect<Quota, NotFound, CurrentActor>

  /** As `inOrganization`, in the default one, which the actor need not be able to read. */
  readonly inDefault: (user: string) => Effect.Effect<Quota, NotFound, CurrentActor>

  /**
   * Whether a user may have another workspace of a cost, in the caller's transaction. No other build of the user is judged until its end.
   */
  readonly affords: (workspace: Pick<Workspace, "organization_id" | "owner_id">, cost: number) => Effect.Effect<boolean>

  /** Whether builds of a cost are charged. Others take no statement. */
  readonly isCharged: (cost: number) => boolean

  /**
   * Charges a planned build to its workspace's owner, and tells the log. An owner's builds are judged one at a time, so that together
   * they exceed no budget. A build that is planned again costs once. Fails with `INSUFFICIENT_QUOTA` over the budget unless the build
   * lowers the cost or is a stop, and without a charge where the job has been taken away. authorization.md §10.
   */
  readonly charge: (
    build: WorkspaceBuild,
    workspace: Workspace,
    cost: number,
    work: JobWork
  ) => Effect.Effect<void, ProvisionFailure | ClaimLost, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const organizations = yield* Organizations
  const organizationRepository = yield* OrganizationRepository
  const repository = yield* QuotaRepository
  const builds = yield* WorkspaceBuildRepository
  const features = yield* Entitlements

  const quotaOf = (organizationId: OrganizationId, reference: string) =>
    Effect.gen(function* () {
      const { id } = yield* users.get(reference)
      const quota: Quota = {
        budget: features.has("template_rbac") ? yield* repository.budget(organizationId, id) : unbounded,
        credits_consumed: yield* repository.consumed(organizationId, id)
      }
      return quota
    })

  const isCharged = (cost: number): boolean => cost !== 0 && features.has("template_rbac")

  return {
    isCharged,

    inOrganization: Traced.fn("WorkspaceQuotas.inOrganization")(function* (organization: string, user: string) {
      const { id } = yield* organizations.get(organization)
      return yield* quotaOf(id, user)
    }),

    inDefault: Traced.fn("WorkspaceQuotas.inDefault")(function* (user: string) {
      const { id } = yield* Effect.flatMap(organizationRepository.default, Effect.orDie)
      return yield* quotaOf(id, user)
    }),

    affords: ({ organization_id, owner_id }: Pick<Workspace, "organization_id" | "owner_id">, cost: number): Effect.Effect<boolean> =>
      Effect.gen(function* () {
        if (!isCharged(cost)) return true
        yield* repository.lock(owner_id)
        const budget = yield* repository.budget(organization_id, owner_id)
        const consumed = yield* repository.consumed(organization_id, owner_id)
        return affordable({ budget, consumed, cost, previous: null })
      }),

    charge: (
      build: WorkspaceBuild,
      { organization_id, owner_id }: Workspace,
      cost: number,
      work: JobWork
    ): Effect.Effect<void, ProvisionFailure | ClaimLost, EventBus | Transactor> =>
      Effect.gen(function* () {
        if (!isCharged(cost) || build.transition === "delete") return
        yield* work.announce(quotaStage)
        const { budget, consumed, isAffordable } = yield* transaction(
          Effect.gen(function* () {
            yield* repository.lock(owner_id)
            const budget = yield* repository.budget(organization_id, owner_id)
            const consumed = yield* repository.consumed(organization_id, owner_id, build.id)
            const before = yield* previousBuild(builds, build)
            const previous = Option.match(before, { onNone: () => null, onSome: ({ daily_cost }) => daily_cost })
            // A stop ends what costs more, and its owner needs it most when the budget is exceeded
            const isAffordable = build.transition === "stop" || affordable({ budget, consumed, cost, previous })
            if (isAffordable) yield* work.store(repository.charge(build.id, cost))
            return { budget, consumed, isAffordable }
          })
        )
        yield* work.charged({ isAffordable, cost, budget, consumed: isAffordable ? consumed + cost : consumed })
        if (!isAffordable) return yield* insufficientQuota()
      })
  }
})

/** Limits on users' spend on workspaces. */
export class WorkspaceQuotas extends Context.Tag("@atelier/core/WorkspaceQuotas")<WorkspaceQuotas, WorkspaceQuotasService>() {
  static readonly layer = standingOn(service(WorkspaceQuotas, make), Users.layer, Organizations.layer)
}
