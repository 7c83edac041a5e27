/**
 * Starts an agent as a process of its own session, which outlives this one.
 */
import { Data, Deferred, Effect, Exit } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:fs"
import * as fs from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { type ProcessIdentity, ProcessTable } from "./ProcessTable.js"

export class LaunchError extends Data.TaggedError("LaunchError")<{ readonly message: string }> {}

export interface Launch {
  readonly command: ReadonlyArray<string>
  /** The agent's whole environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Absolute. */
  readonly directory: string
  /** Where its output is appended. */
  readonly log: string
}

export interface Launched extends ProcessIdentity {
  /** Lets the agent begin. If this process ends first, the agent ends too, and never runs untracked. */
  readonly begin: Effect.Effect<void>
  readonly ended: Effect.Effect<void>
}

/** Waits for a line on its input, then becomes the agent: same process, same start. */
export const gate = 'read -r go && exec "$@" </dev/null'

/** Where a program is, by the rules of `execvp`. */
export const findProgram = (program: string, path: string): Effect.Effect<string, LaunchError> => {
  const candidates = isAbsolute(program) || program.includes("/") ? [program] : path.split(delimiter).map((folder) => join(folder, program))
  return Effect.firstSuccessOf(
    candidates.map((candidate) =>
      Effect.as(
        Effect.tryPromise(() => fs.access(candidate, constants.X_OK)),
        candidate
      )
    )
  ).pipe(Effect.mapError(() => new LaunchError({ message: `the agent's program ${JSON.stringify(program)} cannot be executed` })))
}

const spawned = (child: ChildProcess): Effect.Effect<void, LaunchError> =>
  Effect.async((resume) => {
    child.once("spawn", () => resume(Effect.void))
    child.once("error", (error) => resume(Effect.fail(new LaunchError({ message: `the agent cannot be started: ${error.message}` }))))
  })

/** Starts the agent up to the point where it would begin. */
export const launch = ({ command, directory, environment, log }: Launch): Effect.Effect<Launched, LaunchError, ProcessTable> =>
  Effect.gen(function* () {
    const table = yield* ProcessTable
    const ended = yield* Deferred.make<void>()
    const output = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => fs.open(log, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
        catch: (error) => new LaunchError({ message: `the agent's log cannot be opened: ${String(error)}` })
      }),
      (file) => Effect.promise(() => file.close())
    )
    const child = yield* Effect.try({
      try: () =>
        spawn("/bin/sh", ["-c", gate, "agent", ...command], {
          cwd: directory,
          env: { ...environment },
          detached: true,
          stdio: ["pipe", output.fd, output.fd]
        }),
      catch: (error) => new LaunchError({ message: `the agent cannot be started: ${String(error)}` })
    })
    child.once("exit", () => Deferred.unsafeDone(ended, Exit.void))
    // A process that has ended refuses the line; its end is noticed by itself
    child.stdin?.on("error", () => {})
    yield* spawned(child)
    child.unref()
    const process = yield* table.find(child.pid ?? 0)
    if (process === undefined) return yield* new LaunchError({ message: "the agent ended as soon as it was started" })
    return {
      pid: process.pid,
      started: process.started,
      begin: Effect.sync(() => void child.stdin?.end("go\n")),
      ended: Deferred.await(ended)
    }
  }).pipe(Effect.scoped, Effect.uninterruptible)
