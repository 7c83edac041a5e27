/** Writes a job's log in batches while the job runs. templates-and-provisioning.md §6.6, §9. */
import { Chunk, Duration, Effect, Fiber, Mailbox, type Scope, Stream } from "effect"
import { makeLineTimes } from "../../platform/time/LineTimes.js"
import { afterwards } from "../../platform/store/Transactor.js"
import type { NewJobLog } from "./JobLog.js"
import type { LogSink, ProvisionerLog } from "../engines/ProvisionerEngine.js"

/** Rows are stored together: so many, or those of so long. */
const batch = { rows: 100, window: Duration.millis(250) }

/** Rows that wait to be stored; who writes faster waits too. */
const capacity = 1_000

/** How long the end of a log is waited for. */
const closeTimeout = Duration.seconds(10)

export interface JobLogWriter {
  readonly write: LogSink
  /** Announces what the daemon does next. */
  readonly announce: (stage: string) => Effect.Effect<void>
  /** Stores what is left, but for its last rows, which it returns: they belong to the job's end. Nothing can be written any more. */
  readonly close: Effect.Effect<ReadonlyArray<NewJobLog>>
}

/** A log whose rows go to `store`. Where that fails, the rest of the log is dropped: who runs the job must not wait for it. */
export const makeJobLogWriter = <E, R>(options: {
  readonly store: (rows: ReadonlyArray<NewJobLog>) => Effect.Effect<void, E, R>
  /** Whether trace and debug rows are kept. */
  readonly keepsDetails: boolean
}): Effect.Effect<JobLogWriter, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const rows = yield* Mailbox.make<NewJobLog>({ capacity })
    const lineTimes = makeLineTimes()
    let current = ""
    let isClosing = false
    let last: ReadonlyArray<NewJobLog> = []

    const store = (batch: ReadonlyArray<NewJobLog>) =>
      Effect.suspend(() => {
        if (!isClosing) return options.store(batch)
        const before = last
        last = batch
        return before.length === 0 ? Effect.void : options.store(before)
      })

    const storing = yield* Mailbox.toStream(rows).pipe(
      Stream.groupedWithin(batch.rows, batch.window),
      Stream.runForEach((chunk) => store(Chunk.toReadonlyArray(chunk))),
      Effect.catchAllCause((cause) => Effect.logDebug("rows of a job's log were not stored", cause)),
      Effect.ensuring(rows.shutdown),
      afterwards,
      Effect.forkScoped
    )

    const put = ({ level, output, source, stage }: ProvisionerLog): Effect.Effect<void> =>
      Effect.flatMap(lineTimes, (nextTime) => rows.offer({ created_at: nextTime(), log_source: source, log_level: level, stage, output }))

    const write: LogSink = (log) =>
      Effect.gen(function* () {
        if (!options.keepsDetails && (log.level === "trace" || log.level === "debug")) return
        if (log.stage !== current) {
          current = log.stage
          const announcement: ProvisionerLog = { source: "provisioner_daemon", level: "info", stage: log.stage, output: "" }
          yield* put(announcement)
          if (log.source === announcement.source && log.output === "") return
        }
        yield* put(log)
      })

    return {
      write,
      announce: (stage) => write({ source: "provisioner_daemon", level: "info", stage, output: "" }),
      close: Effect.gen(function* () {
        isClosing = true
        yield* rows.end
        yield* Effect.timeoutOption(Fiber.await(storing), closeTimeout)
        return last
      })
    }
  })
