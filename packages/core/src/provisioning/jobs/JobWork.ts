import { Effect, Option } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { DryRunJobs } from "./DryRunJobs.js"
import type { JobClaims } from "../queue/JobClaims.js"
import type { ModuleArchiveRepository } from "../files/ModuleArchiveRepository.js"
import type { JobTiming } from "./JobTiming.js"
import type { JobLogWriter } from "../logs/JobLogWriter.js"
import type { EngineTiming, Phase, Plan } from "../engines/ProvisionerEngine.js"
import type { ClaimedJob } from "./ProvisionerJobRepository.js"
import type { TemplateImportJobs } from "./TemplateImportJobs.js"
import type { TemplateSources } from "../engines/TemplateSources.js"
import { type Charge, chargeLines, quotaStage, type WorkspaceBuildJobs } from "./WorkspaceBuildJobs.js"
import { type Run, asFailure } from "./JobRun.js"

/** The stage that changes the world. templates-and-provisioning.md §6.6. */
const stages = { start: "Starting workspace", stop: "Stopping workspace", delete: "Destroying workspace" } as const

const storedTiming = ({ id }: ClaimedJob, { ended_at, started_at, ...part }: EngineTiming): JobTiming => ({
  ...part,
  job_id: id,
  started_at: Timestamp.fromMillis(started_at),
  ended_at: Timestamp.fromMillis(ended_at)
})

interface Needs {
  readonly sources: TemplateSources["Type"]
  readonly modules: ModuleArchiveRepository["Type"]
  readonly claims: JobClaims["Type"]
  readonly dryRuns: DryRunJobs["Type"]
  readonly imports: TemplateImportJobs["Type"]
  readonly builds: WorkspaceBuildJobs["Type"]
}

/** The work of each type of job, with the engine of its source. */
export const jobWork = ({ sources, modules, claims, dryRuns, imports, builds }: Needs) => {
  /** Does the job's work. Interrupting it ends the steps it has begun; the results applied so far are in the run. */
  const work = (job: ClaimedJob, writer: JobLogWriter, run: Run, remote: TemplateSources["Type"]["open"] | undefined) =>
    Effect.gen(function* () {
      // A daemon in another process announces its stages itself
      const log = remote === undefined ? writer : { ...writer, announce: () => Effect.void }
      yield* log.announce("Setting up")
      const open = remote ?? sources.open
      const usesModules = remote === undefined && job.type === "workspace_build"
      const downloaded = usesModules ? yield* modules.ofBuildJob(job.id) : Option.none()
      const session = yield* open(job.file_id, log.write, Option.getOrUndefined(downloaded))
      const begin = (...phases: ReadonlyArray<Phase>) =>
        phases.every((phase) => session.repeatable.has(phase))
          ? Effect.void
          : Effect.map(claims.forbidRepeating(job), () => {
              run.repeatable = false
            })
      if (job.type === "template_version_dry_run") {
        yield* begin("plan")
        run.done = { store: yield* dryRuns.run(job, session, log.announce) }
        return
      }
      const { workspace_build_id: buildId } = job.input
      if (buildId === undefined) {
        yield* begin("parse", "plan")
        const store = (write: Effect.Effect<void>) => claims.store(job, write)
        const stored = yield* imports.run(job, session, { announce: log.announce, store })
        yield* log.announce("Cleaning Up")
        run.done = { store: stored }
        return
      }
      yield* begin("plan")
      const input = yield* Effect.mapError(builds.prepare(buildId), asFailure)
      yield* session.prepare?.(input) ?? Effect.void
      yield* log.announce("Planning Infrastructure")
      /** The parts that the engine has measured, and the stages as they were measured here. */
      const measured: Array<JobTiming> = []
      const stagesHere: Array<JobTiming> = []
      const timed = <A extends Pick<Plan, "timings">, E>(stage: "plan" | "apply", step: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          const started_at = yield* Timestamp.now
          const result = yield* step
          const ended_at = yield* Timestamp.now
          for (const part of result.timings ?? []) measured.push(storedTiming(job, part))
          stagesHere.push({ job_id: job.id, started_at, ended_at, stage, source: job.provisioner, action: stage, resource: "workspace" })
          return result
        })
      /** A stage without parts is shown as a whole. A daemon elsewhere sends the parts of all stages with its last one. */
      const timings = () => [...stagesHere.filter(({ stage }) => measured.every((part) => part.stage !== stage)), ...measured]
      const plan = yield* timed("plan", session.plan(input))
      const charged = (charge: Charge) =>
        Effect.forEach(
          chargeLines(charge),
          (output) => log.write({ source: "provisioner_daemon", level: "info", stage: quotaStage, output }),
          { discard: true }
        )
      yield* builds.planned(buildId, plan, {
        announce: log.announce,
        charged: session.charged ?? charged,
        store: (write) => claims.store(job, write)
      })
      yield* begin("apply")
      yield* log.announce(stages[input.metadata.transition])
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.map(restore(timed("apply", session.apply(input))), (applied) => {
          run.done = { store: builds.succeeded(buildId, plan, applied, timings()), state: applied.state }
        })
      )
      yield* log.announce("Cleaning Up")
    }).pipe(Effect.scoped)

  return { work }
}
