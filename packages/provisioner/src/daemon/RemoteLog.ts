/** What a job says, sent to the server in batches, and its signs of life. templates-and-provisioning.md §6.5, §9. */
import type { DrpcClient, Protobuf, ProvisionerDaemonClient, ProvisionerMessages } from "@atelier/agent-protocol"
import type { LogSink } from "@atelier/core/provisioning"
import { Clock, Deferred, Duration, Effect, Mailbox, Option, type Scope } from "effect"
import { logMessage } from "./messages.js"

type Row = Protobuf.InitOf<typeof ProvisionerMessages.Log>

/** A batch is sent when it has so many rows, or its first row is so old. */
const largestBatch = 100
const batchFor = Duration.millis(250)

/** How often a job that says nothing shows that it is alive. */
const heartbeat = Duration.seconds(5)

/** Rows that wait; an engine that says more waits for them. */
const maximumWaiting = 1_000

/** Characters of a row: a batch stays smaller than a message may be. The server keeps fewer. */
const maximumOutput = 8 * 1024

export interface RemoteLog {
  readonly write: LogSink
  /** Sends what waits and ends. */
  readonly close: Effect.Effect<void>
  /** Completes once the server has asked the job to end. */
  readonly canceled: Effect.Effect<void>
}

/**
 * The log of one job. A batch that the server refuses is lost, and those after it are sent all the same. A server that cannot be reached ends the
 * connection, and with it the job.
 */
export const make = (client: ProvisionerDaemonClient, jobId: string): Effect.Effect<RemoteLog, never, Scope.Scope> =>
  Effect.gen(function* () {
    const rows = yield* Mailbox.make<Row>({ capacity: maximumWaiting, strategy: "suspend" })
    const canceled = yield* Deferred.make<void>()

    let isRefused = false
    const send = (logs: ReadonlyArray<Row>): Effect.Effect<void, DrpcClient.ClientError> =>
      Effect.gen(function* () {
        const answer = yield* client.UpdateJob({ job_id: jobId, logs })
        isRefused = false
        if (answer.canceled) yield* Deferred.succeed(canceled, undefined)
      }).pipe(
        Effect.catchIf(
          (error) => error._tag === "RpcError" || error.reason === "message",
          ({ message }) => {
            const isFirst = !isRefused
            isRefused = true
            return isFirst ? Effect.logWarning(`The server refuses a part of a job's log: ${message}`) : Effect.void
          }
        )
      )

    /** The next rows; none after the last one. A batch without rows is a sign of life. */
    const batch: Effect.Effect<Option.Option<ReadonlyArray<Row>>> = Effect.gen(function* () {
      const first = yield* Effect.timeoutOption(Effect.option(rows.take), heartbeat)
      if (Option.isNone(first)) return Option.some([])
      if (Option.isNone(first.value)) return Option.none()
      const found = [first.value.value]
      const fill = Effect.gen(function* () {
        while (found.length < largestBatch) {
          const next = yield* Effect.option(rows.take)
          if (Option.isNone(next)) return
          found.push(next.value)
        }
      })
      yield* Effect.timeoutOption(fill, batchFor)
      return Option.some(found)
    })

    const sending = Effect.gen(function* () {
      for (;;) {
        const next = yield* batch
        if (Option.isNone(next)) return
        yield* send(next.value)
      }
    })
    const done = yield* Deferred.make<void>()
    yield* sending.pipe(
      Effect.catchAll(({ message }) => Effect.logWarning(`The server does not take a job's log: ${message}`)),
      // What an engine still says has no reader
      Effect.ensuring(Effect.zipRight(rows.shutdown, Deferred.succeed(done, undefined))),
      Effect.forkScoped
    )

    return {
      write: (log) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          rows.offer(logMessage({ ...log, output: log.output.slice(0, maximumOutput) }, now))
        ),
      close: Effect.zipRight(rows.end, Deferred.await(done)),
      canceled: Deferred.await(canceled)
    }
  })
