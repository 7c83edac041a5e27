import { Duration, Effect, Schedule } from "effect"
import { Invalid, TimedOut } from "../../platform/Errors.js"
import type { JobLogRepository } from "../../provisioning/logs/JobLogRepository.js"
import { jobStatus, type ProvisionerJob, type ProvisionerJobId } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"

const importTime = Duration.minutes(2)

/** When the import is looked at. */
const looks = Schedule.fromDelays("100 millis", "200 millis", "500 millis").pipe(Schedule.andThen(Schedule.spaced("1 second")))

/** Lines of a failed import that the refusal tells. */
const maximumLines = 20

/** Lines of a log that are read at once. */
const page = 1000

const tookTooLong = new TimedOut({
  message: "The import of the template takes too long.",
  detail: `It had not ended after ${Duration.format(importTime)}. Its version has been created, and a template can be made of it later.`
})

/** What an author can do about a failed import, where its log shows it. */
const causes: ReadonlyArray<readonly [sign: RegExp, cause: string]> = [
  [
    /registry|module not found|could not download|failed to (?:query|install)/i,
    "A provider or module cannot be installed from its registry."
  ],
  [/credential|unauthori[sz]ed|authenticat|access denied|forbidden/i, "The provider has no valid credentials."]
]

interface Needs {
  readonly logs: JobLogRepository["Type"]
  readonly jobs: ProvisionerJobRepository["Type"]
}

/** The import of a composed template: its end is awaited, and the reason of a failure is told. */
export const composedImport = ({ logs, jobs }: Needs) => {
  const errorsOf = (id: ProvisionerJobId) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      let after = 0
      while (true) {
        const rows = yield* logs.after(id, after, page)
        lines.push(...rows.filter(({ log_level }) => log_level === "error").map(({ output }) => output))
        lines.splice(0, lines.length - maximumLines)
        const last = rows.at(-1)
        if (last === undefined || rows.length < page) return lines
        after = last.id
      }
    })

  const failed = (job: ProvisionerJob) =>
    Effect.gen(function* () {
      if (jobStatus(job) === "canceled") return yield* new Invalid({ message: "The import of the template was canceled." })
      const lines = yield* errorsOf(job.id)
      const told = lines.length > 0 ? lines.join("\n") : (job.error ?? "")
      const cause = causes.find(([sign]) => sign.test(told))?.[1]
      return yield* new Invalid({ message: cause ?? "The template cannot be imported.", detail: told })
    })

  /** Waits for the end of an import. */
  const imported = (id: ProvisionerJobId) =>
    Effect.gen(function* () {
      const look = Effect.flatMap(jobs.byId(id), Effect.orDie)
      yield* look.pipe(
        Effect.repeat({ schedule: looks, until: ({ completed_at }) => completed_at !== null }),
        Effect.timeoutFail({ duration: importTime, onTimeout: () => tookTooLong })
      )
      const job = yield* look
      if (jobStatus(job) !== "succeeded") yield* failed(job)
    })

  return { imported }
}
