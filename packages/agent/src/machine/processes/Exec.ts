/** Runs a program while its caller waits. */
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { Clock, Deferred, Duration, Effect, Fiber } from "effect"
import type { Place } from "../../environment/Place.js"
import { bodyReader, limitOf, Refused, type Route, send } from "../Route.js"
import { type Child, start } from "./Child.js"
import { endGroup } from "./Group.js"
import { Command, programOf } from "./Order.js"
import type { Running } from "./Running.js"

/** Bytes of each output that are kept without a word of the caller, and at most. */
const usualOutput = 1024 * 1024
const maximumOutput = 16 * 1024 * 1024

/** Milliseconds that a program may take, where the server names no limit. */
const usualTime = 3_600_000

const readCommand = bodyReader(Command)

interface Collected {
  readonly bytes: Buffer
  readonly isCut: boolean
}

/** Keeps the beginning of an output until it is asked for, and reads the rest to nowhere, so that its program goes on. */
const collect = (output: Readable, most: number): (() => Collected) => {
  const parts: Array<Buffer> = []
  let room = most
  let isCut = false
  const take = (part: Buffer): void => {
    if (part.length > room) isCut = true
    if (room > 0) parts.push(part.length > room ? part.subarray(0, room) : part)
    room = Math.max(0, room - part.length)
  }
  output.on("data", take)
  return () => {
    // A process in the background may hold the output open as long as it runs
    output.off("data", take)
    output.resume()
    return { bytes: Buffer.concat(parts), isCut }
  }
}

/** An output as text. A character that was cut is left out. */
const textOf = ({ bytes, isCut }: Collected, encoding: "utf8" | "base64"): string =>
  encoding === "utf8" && isCut ? new StringDecoder("utf8").write(bytes) : bytes.toString(encoding)

/** Waits for the end of a process, and ends it when its time is over. */
const within = (child: Child, milliseconds: number, end: Effect.Effect<void>) =>
  Effect.gen(function* () {
    let timed_out = false
    const ending = Effect.suspend(() => {
      timed_out = child.leader() !== undefined
      return timed_out ? end : Effect.void
    })
    const limit = yield* Effect.fork(Effect.delay(ending, Duration.millis(milliseconds)))
    const completed = yield* Deferred.await(child.completed)
    // What it has started is ended too
    if (timed_out) yield* Fiber.join(limit)
    return { ...completed, timed_out }
  })

export const execRoute = (place: Effect.Effect<Place>, running: Running): Route => ({
  method: "POST",
  path: "/exec",
  handle: ({ request, response }) =>
    Effect.gen(function* () {
      const command = yield* readCommand(request)
      const longest = limitOf(request, "x-limit-command-ms", usualTime)
      const { encoding = "utf8", max_output_bytes = usualOutput, stdin = "", timeout_ms = longest } = command
      if (timeout_ms > longest) return yield* Refused.field("timeout_ms", `must be at most ${longest}`)
      if (max_output_bytes > maximumOutput) return yield* Refused.field("max_output_bytes", `must be at most ${maximumOutput}`)
      const program = yield* programOf(command, yield* place)
      const startedAt = yield* Clock.currentTimeMillis
      const starting = Effect.flatMap(running.enter(request), (place) =>
        Effect.map(start(program, place), (child) => ({ child, end: Effect.suspend(() => endGroup(child.leader(), place.mark)) }))
      )
      const { child, end: endChild } = yield* Effect.acquireRelease(starting, ({ end }, exit) =>
        exit._tag === "Failure" ? end : Effect.void
      )
      const stdout = collect(child.process.stdout, max_output_bytes)
      const stderr = collect(child.process.stderr, max_output_bytes)
      child.process.stdin.end(stdin, encoding)
      const end = yield* within(child, timeout_ms, endChild)
      const [out, err] = [stdout(), stderr()]
      send(response, 200, {
        exit_code: end.exit_code,
        signal: end.signal,
        stdout: textOf(out, encoding),
        stderr: textOf(err, encoding),
        stdout_truncated: out.isCut,
        stderr_truncated: err.isCut,
        timed_out: end.timed_out,
        duration_ms: (yield* Clock.currentTimeMillis) - startedAt
      })
    })
})
