import { Context, Effect, Layer, Option } from "effect"
import { Entitlements } from "../deployment/Entitlements.js"
import type { EventBus } from "../platform/EventBus.js"
import { transaction, type Transactor } from "../platform/Transactor.js"
import type { ClaimLost } from "../provisioning/JobClaims.js"
import { ProvisionFailure } from "../provisioning/ProvisionerEngine.js"
import type { JobWork } from "../provisioning/WorkspaceBuildJobs.js"
import { affordable } from "./Quota.js"
import { QuotaRepository } from "./QuotaRepository.js"
import type { Workspace } from "./Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"

/** How the build's log calls this step. */
const stage = "Commit quota"

const make = Effect.gen(function* () {
  const repository = yield* QuotaRepository
  const builds = yield* WorkspaceBuildRepository
  const features = yield* Entitlements

  return {
    /**
     * Charges a planned build to its workspace's owner, and tells the log. Of an owner's builds one at a time is judged, so that together
     * they exceed no budget; a build that is planned again costs once. Fails with `INSUFFICIENT_QUOTA` over the budget unless the build
     * lowers the cost or is a stop, and without a charge where the job has been taken away. authorization.md §10.
     */
    commit: (
      build: WorkspaceBuild,
      { organization_id, owner_id }: Workspace,
      cost: number,
      work: JobWork
    ): Effect.Effect<void, ProvisionFailure | ClaimLost, EventBus | Transactor> =>
      Effect.gen(function* () {
        if (cost === 0 || build.transition === "delete" || !features.has("template_rbac")) return
        yield* work.announce(stage)
        const { budget, consumed, isAffordable } = yield* transaction(
          Effect.gen(function* () {
            yield* repository.lock(owner_id)
            const budget = yield* repository.budget(organization_id, owner_id)
            const consumed = yield* repository.consumed(organization_id, owner_id, build.id)
            const before = yield* builds.byNumber(build.workspace_id, build.build_number - 1)
            const previous = Option.match(before, { onNone: () => null, onSome: ({ daily_cost }) => daily_cost })
            // A stop ends what costs more, and its owner needs it most when the budget is exceeded
            const isAffordable = build.transition === "stop" || affordable({ budget, consumed, cost, previous })
            if (isAffordable) yield* work.store(repository.charge(build.id, cost))
            return { budget, consumed, isAffordable }
          })
        )
        yield* Effect.forEach(
          [`Build cost: ${cost}`, `Budget: ${budget}`, `Credits consumed: ${isAffordable ? consumed + cost : consumed}`],
          (output) => work.write({ source: "provisioner_daemon", level: "info", stage, output }),
          { discard: true }
        )
        if (!isAffordable) {
          return yield* new ProvisionFailure({ code: "INSUFFICIENT_QUOTA", message: "insufficient quota" })
        }
      })
  }
})

/** The costs of builds, and the quotas that limit them. */
export class BuildCosts extends Context.Tag("@atelier/core/BuildCosts")<BuildCosts, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(BuildCosts, make)
}
