/** A process in a group of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { stat } from "node:fs/promises"
import { constants } from "node:os"
import { Deferred, Duration, Effect, Either, FiberId, Option } from "effect"
import * as ProcessTree from "../../scripts/ProcessTree.js"
import { Refused } from "../Route.js"
import type { Program } from "./Order.js"

/** How a process ended: by itself or by a signal. */
export interface End {
  readonly exit_code: number | null
  readonly signal: string | null
}

/** A name and a value of the environment that no other process has, except those that this one starts. */
export type Mark = readonly [name: string, value: string]

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly pid: number
  /** The end of the process itself. Others of its group may go on. */
  readonly ended: Deferred.Deferred<End>
  /** No process has its output open any more. */
  readonly closed: Deferred.Deferred<void>
}

/** How long the output of an ended process may stay open: others of its group that go on may write to it. */
const outputGrace = Duration.millis(200)

/** Why a program cannot be started, to the caller. */
export const startRefusal = (error: NodeJS.ErrnoException, { directory, file }: Program): Effect.Effect<never, Refused> =>
  Effect.gen(function* () {
    const place = yield* Effect.promise(() => stat(directory).catch(() => undefined))
    if (place?.isDirectory() !== true) return yield* Refused.field("cwd", `${directory} is not a directory`)
    if (error.code === "ENOENT") return yield* Refused.field("program", `${file} is not found`)
    if (error.code === "EACCES") return yield* Refused.field("program", `${file} may not be executed`)
    if (error.code === "E2BIG") return yield* Refused.field("args", "are too long, together with the environment")
    if (error.code === "EAGAIN") return yield* new Refused({ status: 429, message: "The machine can start no more processes." })
    return yield* new Refused({ status: 400, message: "The program cannot be started.", detail: error.message })
  })

const errorOf = (cause: unknown): NodeJS.ErrnoException => (cause instanceof Error ? cause : new Error(String(cause)))

/** Starts a program. `onEnd` is called at once when the process has ended. */
export const start = (program: Program, [name, value]: Mark, onEnd: () => void): Effect.Effect<Child, Refused> =>
  Effect.suspend(() => {
    const ended = Deferred.unsafeMake<End>(FiberId.none)
    const closed = Deferred.unsafeMake<void>(FiberId.none)
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
    child.on("error", () => undefined)
    child.once("exit", (exit_code, signal) => {
      onEnd()
      Deferred.unsafeDone(ended, Effect.succeed({ exit_code, signal }))
    })
    child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
    return Effect.succeed({ process: child, pid: child.pid, ended, closed })
  })

/** The end of a process, once its output is read, or may only come from others that it has left behind. */
export const completed = ({ closed, ended }: Pick<Child, "ended" | "closed">): Effect.Effect<End> =>
  Effect.zipLeft(Deferred.await(ended), Effect.timeoutOption(Deferred.await(closed), outputGrace))

/** Whether a group got a signal: it has processes that are not over. */
export const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean =>
  Either.isRight(Either.try(() => process.kill(-pid, signal)))

export const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

/** How often a group that was asked to end is looked at. */
const lookEvery = Duration.millis(20)

/** Asks a group to end, kills it after a time, and kills what has left the group. */
export const endGroup = (pid: number, mark: Mark): Effect.Effect<void> => {
  const gone: Effect.Effect<void> = Effect.suspend(() => (signalGroup(pid, 0) ? Effect.delay(gone, lookEvery) : Effect.void))
  const entry = mark.join("=")
  return Effect.suspend(() =>
    signalGroup(pid, "SIGTERM") ? Effect.timeoutOption(gone, ProcessTree.grace) : Effect.succeed(Option.some(undefined))
  ).pipe(
    Effect.tap((isGone) => Effect.sync(() => Option.isNone(isGone) && signalGroup(pid, "SIGKILL"))),
    Effect.zipRight(Effect.sync(() => ProcessTree.kill({ root: undefined, isMark: (other) => other === entry })))
  )
}
