/** A process in a group of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { stat } from "node:fs/promises"
import { Deferred, Effect, Either, FiberId } from "effect"
import { Refused } from "../Route.js"
import type { Program } from "./Order.js"
import type { Place } from "./Running.js"

/** How a process ended: by itself or by a signal. */
export interface End {
  readonly exit_code: number | null
  readonly signal: string | null
}

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly pid: number
  /** The id of its group, while it runs. */
  readonly leader: () => number | undefined
  /** The end of the process itself. Others of its group may go on. */
  readonly ended: Deferred.Deferred<End>
  /** The same, once the output is read, or may only come from others that the process has left behind. */
  readonly completed: Deferred.Deferred<End>
}

/** Milliseconds for which the output of an ended process may stay open: others of its group that go on may write to it. */
const outputGrace = 200

/** Why a program cannot be started, to the caller. */
export const startRefusal = (error: NodeJS.ErrnoException, { directory, file, isShell }: Program): Effect.Effect<never, Refused> =>
  Effect.gen(function* () {
    const place = yield* Effect.promise(() => stat(directory).catch(() => undefined))
    if (place?.isDirectory() !== true) return yield* Refused.field("cwd", `${directory} is not a directory`)
    if (error.code === "ENOENT" && isShell) {
      const advice = "Name a program and its arguments instead."
      return yield* Refused.field("command", `needs a shell, which the workspace does not have: ${file} is not found. ${advice}`)
    }
    if (error.code === "ENOENT") return yield* Refused.field("program", `${file} is not found`)
    if (error.code === "EACCES") return yield* Refused.field("program", `${file} may not be executed`)
    if (error.code === "E2BIG") return yield* Refused.field("args", "are too long, together with the environment")
    if (error.code === "EAGAIN") return yield* new Refused({ status: 429, message: "The machine can start no more processes." })
    return yield* new Refused({ status: 400, message: "The program cannot be started.", detail: error.message })
  })

const errorOf = (cause: unknown): NodeJS.ErrnoException => (cause instanceof Error ? cause : new Error(String(cause)))

/** Starts a program in a place, which it leaves at its end. */
export const start = (program: Program, place: Place): Effect.Effect<Child, Refused> =>
  Effect.suspend(() => {
    const ended = Deferred.unsafeMake<End>(FiberId.none)
    const completed = Deferred.unsafeMake<End>(FiberId.none)
    const [name, value] = place.mark
    const started = Either.try({
      try: () =>
        spawn(program.file, program.args, {
          cwd: program.directory,
          env: { ...program.environment, [name]: value },
          detached: true,
          stdio: "pipe"
        }),
      catch: errorOf
    })
    if (Either.isLeft(started)) return startRefusal(started.left, program)
    const child = started.right
    // What it does not read is lost with it
    child.stdin.on("error", () => undefined)
    if (child.pid === undefined) {
      return Effect.flatMap(
        Effect.async<NodeJS.ErrnoException>((resume) => void child.once("error", (error) => resume(Effect.succeed(error)))),
        (error) => startRefusal(error, program)
      )
    }
    const { pid } = child
    place.started(pid)
    child.on("error", () => undefined)
    child.once("exit", (exit_code, signal) => {
      place.leave()
      const end = Effect.succeed({ exit_code, signal })
      Deferred.unsafeDone(ended, end)
      // No effects for it: a race of two fibers takes a tenth of a short command's time in the agent
      const complete = (): void => Deferred.unsafeDone(completed, end)
      const grace = setTimeout(complete, outputGrace)
      child.once("close", () => {
        clearTimeout(grace)
        complete()
      })
    })
    const leader = () => (child.exitCode === null && child.signalCode === null ? pid : undefined)
    return Effect.succeed({ process: child, pid, leader, ended, completed })
  }).pipe(Effect.tapError(() => Effect.sync(place.leave)))
