/**
 * Runs one command of Terraform to its end. Whatever it has started is gone when the effect has ended. terraform.md §4 nos. 5, 6.
 */
import { Data, Deferred, Duration, Effect, Exit, Fiber, Option, Queue } from "effect"
import { spawn } from "node:child_process"
import { StringDecoder } from "node:string_decoder"

/** The command could not be started, took too long, or printed too much. */
export class CommandError extends Data.TaggedError("CommandError")<{ readonly message: string }> {}

export interface Command {
  /** Absolute, or on the PATH of the environment. */
  readonly program: string
  readonly options: ReadonlyArray<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Called for each line of the output, in order. */
  readonly onLine: (line: string, stream: "stdout" | "stderr") => Effect.Effect<void>
  /** How long it may run, and why no longer. */
  readonly timeout: Duration.DurationInput
  readonly bound: string
  /** How long it may take to end after it was asked to. */
  readonly grace: Duration.DurationInput
}

/** UTF-16 units of a line; the rest of a longer one is not kept. */
const maximumLine = 64 * 1024 * 1024

/** Lines that may wait to be written; those of a flood are not kept. */
const maximumWaiting = 100_000

/** Cuts the text of a stream into lines. */
const makeLines = (onLine: (line: string) => void) => {
  const decoder = new StringDecoder("utf8")
  let rest = ""
  return {
    add: (chunk: Buffer): void => {
      const lines = decoder.write(chunk).split("\n")
      const last = lines.pop() ?? ""
      for (const line of lines) {
        onLine(rest + line)
        rest = ""
      }
      if (rest.length < maximumLine) rest += last
    },
    end: (): void => {
      rest += decoder.end()
      if (rest !== "") onLine(rest)
      rest = ""
    }
  }
}

interface Line {
  readonly text: string
  readonly stream: "stdout" | "stderr"
}

/** Writes lines in their order, until the end. */
const write = (lines: Queue.Dequeue<Line | undefined>, onLine: Command["onLine"]): Effect.Effect<void> =>
  Effect.flatMap(Queue.take(lines), (line) =>
    line === undefined ? Effect.void : Effect.flatMap(onLine(line.text, line.stream), () => write(lines, onLine))
  )

/** How long what remains in the pipes is read after the end; processes that it left behind hold them open. */
const drainTime = Duration.seconds(1)

/** How a command ended. */
export interface Ended {
  /** Null after a signal. */
  readonly code: number | null
  readonly wasInterrupted: boolean
}

/**
 * Call it where it cannot be interrupted, with what restores the caller's own region. Interrupted then, it asks the command to end, as a user's
 * Ctrl-C does, kills its process group after `grace`, and answers: a canceled apply has a state that its failure has to carry, and a failure
 * is lost on its way through a region that can be interrupted.
 */
export const run = (
  command: Command,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.Effect<Ended, CommandError> =>
  Effect.gen(function* () {
    const { bound, directory, environment, grace, onLine, options, program, timeout } = command
    const exited = yield* Deferred.make<number | null, CommandError>()
    const closed = yield* Deferred.make<void>()
    const child = spawn(program, options, { cwd: directory, env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const failed = (error: Error) => new CommandError({ message: `${program} cannot be started: ${error.message}` })
    child.once("error", (error) => Deferred.unsafeDone(exited, Exit.fail(failed(error))))
    child.once("exit", (code) => Deferred.unsafeDone(exited, Exit.succeed(code)))
    child.once("close", () => Deferred.unsafeDone(closed, Exit.void))

    const lines = yield* Queue.dropping<Line | undefined>(maximumWaiting)
    const writing = yield* Effect.forkDaemon(write(lines, onLine))
    // Read without pause: with a full pipe Terraform does not react to signals
    const readers = (["stdout", "stderr"] as const).map((stream) => {
      const reader = makeLines((text) => void lines.unsafeOffer({ text, stream }))
      child[stream].on("data", reader.add)
      child[stream].on("error", () => {})
      return reader
    })

    const signal = (name: NodeJS.Signals, target: "process" | "group") =>
      Effect.sync(() => {
        try {
          // A group outlives its leader while it has members
          if (child.pid !== undefined) process.kill(target === "group" ? -child.pid : child.pid, name)
        } catch {
          // It has ended already
        }
      })
    const stop = Effect.gen(function* () {
      yield* signal("SIGINT", "process")
      const ended = yield* Effect.timeoutOption(Effect.interruptible(Effect.exit(Deferred.await(exited))), grace)
      if (Option.isNone(ended)) yield* signal("SIGKILL", "group")
      return yield* Deferred.await(exited)
    })

    const waited = yield* Effect.exit(restore(Effect.timeoutOption(Deferred.await(exited), timeout)))
    const wasInterrupted = Exit.isInterrupted(waited)
    const tookTooLong = Exit.isSuccess(waited) && Option.isNone(waited.value)
    const code = wasInterrupted || tookTooLong ? yield* Effect.exit(stop) : Exit.map(waited, Option.getOrNull)
    // Providers and what they started must not outlive the command
    yield* signal("SIGKILL", "group")
    yield* Effect.timeoutOption(Effect.interruptible(Deferred.await(closed)), drainTime)
    child.stdout.destroy()
    child.stderr.destroy()
    for (const reader of readers) reader.end()
    // A full queue takes no end; its lines are written first
    yield* Effect.repeat(Queue.offer(lines, undefined).pipe(Effect.zipLeft(Effect.yieldNow())), { until: (taken) => taken })
    yield* Fiber.join(writing)
    if (tookTooLong) return yield* new CommandError({ message: `terraform ${options[0] ?? ""} was ended: ${bound}` })
    return { code: yield* code, wasInterrupted }
  })
