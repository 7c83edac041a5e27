import { Clock, Effect, ExecutionStrategy, Scope } from "effect"
import { Timestamp } from "@atelier/agent-protocol"
import type { Connection } from "../connection/Connection.js"
import * as Sender from "./Sender.js"

export type Level = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR"

/** Bytes of logs the server takes from an agent (agents-and-apps.md §5). */
export const maximumBytes = 1_048_576

/** The least count of a line: also empty lines take memory, and a row at the server. */
const minimumLineBytes = 16

/** Lines gather until there are this many, or for this long. */
const gatherLines = 100
const gatherFor = "250 millis"

/** Bounds of a batch. A batch beyond the server's limit is refused whole, so batches are a small part of it. */
const maximumBatchLines = 1000
const maximumBatchBytes = 64 * 1024

/** The last line when the bytes are used up. */
export const limitNotice = "The logs of this agent have reached their limit of 1 MiB: further output is not kept."

interface Line {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: Level
  readonly output: string
  readonly bytes: number
}

/** The logs of a script. */
export interface LogSource {
  /** Adds a line, in UTF-8 text of at most 1024 characters. Does not wait. */
  readonly write: (level: Level, line: string) => void
}

/**
 * Lines on their way to the server. A line leaves only when the server acknowledged it: when an acknowledgement is lost, its batch is sent again. The lines
 * of a source stay in order. What an agent writes in its life is bounded by what the server takes, and so is what waits here.
 */
export interface LogQueue {
  /** The source with this id, 16 bytes. */
  readonly source: (id: Uint8Array) => Effect.Effect<LogSource>
  /** Completes when the server has all lines. */
  readonly drain: Effect.Effect<void>
}

const batchOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  let count = 0
  let bytes = 0
  for (const line of lines) {
    bytes += line.bytes
    if (count === maximumBatchLines || (count > 0 && bytes > maximumBatchBytes)) break
    count += 1
  }
  return lines.slice(0, count)
}

export const make = (connection: Connection): Effect.Effect<LogQueue, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Sources of later manifests end with the queue, too, and not before what is begun until then
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const clock = yield* Clock.clockWith(Effect.succeed)
    const making = yield* Effect.makeSemaphore(1)
    const sources = new Map<string, { readonly source: LogSource; readonly sender: Sender.Sender; readonly clear: () => void }>()
    const noticeBytes = Buffer.byteLength(limitNotice)
    let remaining = maximumBytes - noticeBytes
    let full = false

    /** Takes what a line costs off the limit; the line that would pass it is replaced by the notice. */
    const admit = (output: string): { readonly output: string; readonly bytes: number } | undefined => {
      if (full) return undefined
      const bytes = Math.max(Buffer.byteLength(output), minimumLineBytes)
      full = bytes > remaining
      remaining -= bytes
      return full ? { output: limitNotice, bytes: noticeBytes } : { output, bytes }
    }

    const refuse = Effect.suspend(() => {
      full = true
      for (const { clear } of sources.values()) clear()
      return Effect.logWarning("The server takes no more logs of this agent")
    })

    const makeSource = (id: Uint8Array) =>
      Effect.gen(function* () {
        const enough = yield* Effect.makeLatch()
        let lines: Array<Line> = []

        const send = Effect.gen(function* () {
          const batch = batchOf(lines)
          const { log_limit_exceeded } = yield* connection.deliver("logs", (client) =>
            client.BatchCreateLogs({
              log_source_id: id,
              logs: batch.map(({ at, level, output }) => ({ created_at: Timestamp.fromMillis(at), level, output }))
            })
          )
          if (log_limit_exceeded) yield* refuse
          else lines = lines.slice(batch.length)
          if (lines.length < gatherLines) enough.unsafeClose()
        })

        const sender = yield* Sender.make({
          hasWork: () => lines.length > 0,
          gather: Effect.raceFirst(enough.await, Effect.sleep(gatherFor)),
          send
        })

        const write = (level: Level, line: string): void => {
          const admitted = admit(line)
          if (admitted === undefined) return
          lines.push({ at: clock.unsafeCurrentTimeMillis(), level: full ? "WARN" : level, ...admitted })
          if (lines.length >= gatherLines) enough.unsafeOpen()
          sender.wake()
        }

        const clear = () => {
          lines = []
        }
        return { source: { write }, sender, clear }
      })

    return {
      source: (id) =>
        Effect.gen(function* () {
          const key = Buffer.from(id).toString("hex")
          const known = sources.get(key)
          if (known !== undefined) return known.source
          const made = yield* Scope.extend(makeSource(id), scope)
          sources.set(key, made)
          return made.source
        }).pipe(making.withPermits(1)),
      drain: Effect.suspend(() =>
        Effect.forEach(sources.values(), ({ sender }) => sender.drain, { concurrency: "unbounded", discard: true })
      )
    }
  })
