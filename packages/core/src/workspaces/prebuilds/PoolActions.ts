import { Effect } from "effect"
import { prebuildsUserId } from "../../access/decisions/Decision.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Invalid } from "../../platform/Errors.js"
import type * as Timestamp from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import type { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { reconcile } from "./PrebuildReconciliation.js"
import type { PrebuildPreset, PrebuildRepository, StoredPrebuild } from "./PrebuildRepository.js"
import type { PrebuiltWorkspaces } from "./PrebuiltWorkspaces.js"
import type { WorkspaceBuildCreation } from "../builds/WorkspaceBuildCreation.js"

const prebuildsOwner = Uuid.make(prebuildsUserId)

/** Logs why an action did not succeed; the next cycle decides again. */
const attempted = <A, E extends { readonly _tag: string }, R>(action: Effect.Effect<A, E, R>) =>
  action.pipe(
    Effect.asVoid,
    // A user was faster: the workspace has changed, or belongs to the user, where the orchestrator may do nothing
    Effect.catchIf(
      ({ _tag }) => _tag === "Conflict" || _tag === "Forbidden",
      () => Effect.void
    ),
    Effect.catchAllCause((cause) => Effect.logWarning("a prebuilt workspace could not be changed and is tried again", cause))
  )

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly builds: WorkspaceBuildCreation["Type"]
  readonly prebuilt: PrebuiltWorkspaces["Type"]
  readonly repository: PrebuildRepository["Type"]
  readonly jobs: ProvisionerJobs["Type"]
}

/** What the pool does for one preset: it makes and deletes workspaces. */
export const poolActions = ({ options, builds, prebuilt, repository, jobs }: Needs) => {
  const limits = {
    backoffInterval: options.workspacePrebuildsReconciliationBackoffInterval,
    lookback: options.workspacePrebuildsReconciliationBackoffLookbackPeriod,
    hardLimit: options.workspacePrebuildsFailureHardLimit
  }

  /** A user may claim the workspace between the decision and the delete, which takes place only if it is the pool's as it was then. */
  const remove = ({ build_id, id }: StoredPrebuild, orphan: boolean) =>
    builds.create(id, {
      transition: "delete",
      rich_parameter_values: [],
      orphan,
      expected: { owner_id: prebuildsOwner, latest_build_id: build_id }
    })

  /** Creates workspaces until one is refused, which stops further attempts with this version. */
  const createAll = (preset: PrebuildPreset, count: number) =>
    Effect.gen(function* () {
      for (let made = 0; made < count; made++) {
        const refusal = yield* prebuilt.create(preset).pipe(
          Effect.as(undefined),
          Effect.catchIf(
            (error): error is Invalid => error._tag === "Invalid",
            (error) => Effect.succeed(error)
          )
        )
        if (refusal === undefined) continue
        yield* Effect.logWarning("prebuilt workspaces of a preset are refused", refusal)
        return yield* repository.setStatus(preset.id, "validation_failed")
      }
    })

  const act = (preset: PrebuildPreset, existing: ReadonlyArray<StoredPrebuild>, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const actions = reconcile(preset, existing, limits, now)
      if (actions.status !== preset.status) yield* repository.setStatus(preset.id, actions.status)
      const chosen = (ids: ReadonlyArray<Uuid>) => {
        const wanted = new Set(ids)
        return existing.filter(({ id }) => wanted.has(id))
      }
      yield* Effect.forEach(
        chosen(actions.abandon),
        (waiting) => attempted(Effect.zipRight(jobs.cancel(waiting.job_id, { expectStatus: "pending" }), remove(waiting, true))),
        { discard: true }
      )
      yield* Effect.forEach(chosen(actions.delete), (unwanted) => attempted(remove(unwanted, false)), { discard: true })
      yield* attempted(createAll(preset, actions.create))
    }).pipe(Effect.annotateLogs({ preset: preset.id, template: preset.template_id }))

  return { act }
}
