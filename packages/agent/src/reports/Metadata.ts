import { Duration, Effect, Option, Schedule, type Scope } from "effect"
import { Duration as WireDuration, Timestamp, type AgentMessages } from "@atelier/agent-protocol"
import * as Command from "../scripts/Command.js"
import type { Connection } from "../connection/Connection.js"
import * as LatestByKey from "./LatestByKey.js"
import * as Loop from "../Loop.js"
import type { Marks } from "../scripts/Marks.js"
import type { Place } from "../environment/Place.js"

/** Bytes the server stores of a value, and of an error (agents-and-apps.md §8). */
const maximumValueBytes = 2048

/** Bytes of keys the server takes in one call (agents-and-apps.md §8). */
const maximumKeyBytes = 6144

/** Bytes of a script's output that are read; the rest is only counted. */
const maximumOutputBytes = 16 * 1024

/** How long a script may take that has neither a timeout nor an interval. */
const defaultTimeout = Duration.seconds(5)

const spacing = Duration.seconds(1)
const gather = Duration.millis(100)

const nanosPerMilli = 1_000_000

/** A manifest carries the seconds of a description as nanoseconds (agents-and-apps.md §14); undefined if they are absent. */
const secondsOf = (duration: AgentMessages.MetadataDescription["interval"]): Duration.Duration | undefined => {
  if (duration === undefined) return undefined
  const seconds = WireDuration.toMillis(duration) * nanosPerMilli
  return seconds > 0 ? Duration.seconds(Math.round(seconds)) : undefined
}

/** The first bytes of an output, and how many there were. */
class Head {
  private readonly kept: Array<Uint8Array> = []
  size = 0

  readonly add = (chunk: Uint8Array): void => {
    const room = maximumOutputBytes - this.size
    if (room > 0) this.kept.push(chunk.subarray(0, room))
    this.size += chunk.length
  }

  get text(): string {
    return Buffer.concat(this.kept).toString("utf8").trim()
  }
}

/** As much of a text as the server stores, in whole characters. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text)
  // A character cut in two leaves a continuation byte behind the end.
  let end = Math.min(bytes.length, maximumValueBytes)
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString("utf8")
}

interface Result {
  readonly value: string
  readonly error: string
  readonly collectedAt: number
}

const resultOf = ({ endedAt, exitCode, status }: Command.Completion, stdout: Head, stderr: Head, timeout: Duration.Duration): Result => {
  const full = stdout.text
  const value = cut(full)
  const errors: Record<Command.Status, string> = {
    OK: "",
    PIPES_LEFT_OPEN: "",
    EXIT_FAILURE: `exit status ${exitCode}${stderr.size === 0 ? "" : `: ${stderr.text}`}`,
    TIMED_OUT: `timed out after ${Duration.format(timeout)}`
  }
  const tooLong =
    value === full ? "" : `the value has ${Math.max(stdout.size, Buffer.byteLength(full))} bytes, ${maximumValueBytes} are kept`
  return { value, error: cut([errors[status], tooLong].filter((text) => text !== "").join("; ")), collectedAt: endedAt }
}

const fitting = (keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  let bytes = 0
  return keys.filter((key, index) => {
    bytes += Buffer.byteLength(key)
    return index === 0 || bytes <= maximumKeyBytes
  })
}

/** Collects the workspace's metadata, each value in its own interval, until the scope is closed. Spec: agents-and-apps.md §8. */
export const report = (options: {
  readonly connection: Connection
  readonly marks: Marks
  readonly place: Place
  readonly descriptions: ReadonlyArray<AgentMessages.MetadataDescription>
}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { connection, descriptions, marks, place } = options
    const results = yield* LatestByKey.make<string, Result>({
      spacing,
      gather,
      fitting,
      report: (batch) =>
        connection
          .call((client) =>
            client.BatchUpdateMetadata({
              metadata: batch.map(([key, { collectedAt, error, value }]) => ({
                key,
                result: { collected_at: Timestamp.fromMillis(collectedAt), value, error }
              }))
            })
          )
          .pipe(
            // The next values replace these anyway.
            Effect.catchAll((error) => Effect.logWarning(`The server does not take metadata: ${error.message}`)),
            Effect.asVoid
          )
    })

    const collect = ({ interval, key, script, timeout }: AgentMessages.MetadataDescription) => {
      const every = secondsOf(interval)
      const atMost = secondsOf(timeout) ?? every ?? defaultTimeout
      const once = Effect.gen(function* () {
        const stdout = new Head()
        const stderr = new Head()
        const completion = yield* Command.run(
          {
            script,
            shell: place.shell,
            directory: place.directory,
            environment: place.variables,
            mark: marks.next(),
            timeout: Option.some(atMost),
            ownGroup: false
          },
          { stdout: stdout.add, stderr: stderr.add, end: () => undefined }
        )
        results.set(key, resultOf(completion, stdout, stderr, atMost))
      })
      return Loop.scheduled(`the metadata ${key}`, once, every === undefined ? Schedule.stop : Schedule.fixed(every))
    }
    // In one fiber: its interruption ends all scripts at the same time.
    yield* Effect.forkScoped(Effect.forEach(descriptions, collect, { concurrency: "unbounded", discard: true }))
  })
