import { spawn, type ChildProcessByStdio } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { Clock, Data, Deferred, Duration, Effect, Option, type Scope } from "effect"
import * as ProcessTree from "./ProcessTree.js"

/** A script to run. */
export interface Command {
  readonly script: string
  /** Interprets scripts that do not begin with `#!`. */
  readonly shell: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Name of the variable that marks the processes of this run, and its value, which no other run has. */
  readonly mark: readonly [name: string, value: string]
  readonly timeout: Option.Option<Duration.Duration>
  /** Whether it leaves the agent's process group, so that signals to the group do not reach it. */
  readonly ownGroup: boolean
}

/** Takes what a command writes, without waiting. */
export interface Output {
  readonly stdout: (chunk: Uint8Array) => void
  readonly stderr: (chunk: Uint8Array) => void
  /** Nothing more will come: every process that had the output is gone. */
  readonly end: () => void
}

/**
 * How a command ended:
 * - `TIMED_OUT`: it was killed, with its descendants
 * - `PIPES_LEFT_OPEN`: it succeeded, but a process that it left behind may still write; that one lives on
 */
export type Status = "OK" | "EXIT_FAILURE" | "TIMED_OUT" | "PIPES_LEFT_OPEN"

export interface Completion {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  /** That of the process, or 128 plus the number of the signal that ended it, as shells count. */
  readonly exitCode: number
  readonly status: Status
}

/** The command cannot be started; `exitCode` is what a shell answers then. */
class CannotStart extends Data.TaggedError("CannotStart")<{ readonly exitCode: number; readonly message: string }> {}

/** How long the output may stay open after the command's own end. */
const pipesGrace = Duration.seconds(10)

/** How long a killed process may take to be gone; one that waits for a broken disk stays. */
const killGrace = Duration.seconds(5)

/** Bytes of a script that are passed as an argument; Linux takes 128 KiB. Longer ones are passed as a file. */
const maximumArgumentBytes = 96 * 1024

/** The exit codes of shells for commands that did not run to their end. */
const exitCodes = { notExecutable: 126, notFound: 127, killed: 128 + constants.signals.SIGKILL } as const

const cannotStart = (cause: unknown) => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new CannotStart({
    exitCode: message.includes("ENOENT") ? exitCodes.notFound : exitCodes.notExecutable,
    message: `Cannot start: ${message}`
  })
}

/** Whether the workspace has no shell for the script. */
const isMissing = (error: NodeJS.ErrnoException, { directory, shell }: Command): boolean =>
  error.code === "ENOENT" && error.path === shell && existsSync(directory)

/** The program and arguments of a script's first line, `#!program argument`: at most one argument, as the kernel reads it. */
const interpreterOf = (script: string): ReadonlyArray<string> | undefined => {
  const [, program, argument] = /^#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t\r]*(?:\n|$)/.exec(script) ?? []
  if (program === undefined) return undefined
  return argument === undefined || argument === "" ? [program] : [program, argument]
}

/**
 * The program that runs a script. A file for it lives as long as the scope. Interpreters are started directly: the folder may forbid
 * execution.
 */
const programOf = ({ script, shell }: Command): Effect.Effect<ReadonlyArray<string>, CannotStart, Scope.Scope> => {
  const interpreter = interpreterOf(script)
  if (interpreter === undefined && Buffer.byteLength(script) <= maximumArgumentBytes) return Effect.succeed([shell, "-c", script])
  const folder = Effect.acquireRelease(Effect.tryPromise({ try: () => mkdtemp(join(tmpdir(), "script-")), catch: cannotStart }), (folder) =>
    Effect.ignore(Effect.tryPromise(() => rm(folder, { recursive: true, force: true })))
  )
  return Effect.gen(function* () {
    const file = join(yield* folder, "script")
    yield* Effect.tryPromise({ try: () => writeFile(file, script, { mode: 0o600 }), catch: cannotStart })
    return [...(interpreter ?? [shell]), file]
  })
}

interface Running {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  readonly exited: Deferred.Deferred<number>
  /** The output is at its end. */
  readonly closed: Deferred.Deferred<void>
}

const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal])

const start = (program: ReadonlyArray<string>, command: Command, output: Output): Effect.Effect<Running, CannotStart> =>
  Effect.gen(function* () {
    const [file = command.shell, ...args] = program
    const [name, value] = command.mark
    const exited = yield* Deferred.make<number>()
    const closed = yield* Deferred.make<void>()
    return yield* Effect.try({
      try: () => {
        const child = spawn(file, args, {
          cwd: command.directory,
          env: { ...command.environment, [name]: value },
          detached: command.ownGroup,
          stdio: ["ignore", "pipe", "pipe"]
        })
        child.stdout.on("data", output.stdout)
        child.stderr.on("data", output.stderr)
        child.once("exit", (code, signal) => Deferred.unsafeDone(exited, Effect.succeed(exitCodeOf(code, signal))))
        child.once("error", (error) => {
          const { exitCode, message } = cannotStart(isMissing(error, command) ? new Error(`${command.shell} is not found (ENOENT)`) : error)
          output.stderr(Buffer.from(`${message}\n`))
          Deferred.unsafeDone(exited, Effect.succeed(exitCode))
        })
        child.once("close", () => {
          output.end()
          Deferred.unsafeDone(closed, Effect.void)
        })
        return { process: child, exited, closed }
      },
      catch: cannotStart
    })
  })

/** Runs a command to its end; interrupting it ends the command and its descendants. */
export const run = (command: Command, output: Output): Effect.Effect<Completion> =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const completed = (exitCode: number, status: Status) =>
      Effect.map(Clock.currentTimeMillis, (endedAt): Completion => ({ startedAt, endedAt: Math.max(startedAt, endedAt), exitCode, status }))

    const running = Effect.gen(function* () {
      const program = yield* programOf(command)
      const { closed, exited, process } = yield* Effect.acquireRelease(start(program, command, output), ({ process }, exit) =>
        exit._tag === "Failure" ? end(process) : Effect.void
      )
      const exit = yield* within(Deferred.await(exited), command.timeout)
      if (Option.isNone(exit)) {
        yield* end(process)
        const killed = yield* within(Deferred.await(exited), Option.some(killGrace))
        return yield* completed(
          Option.getOrElse(killed, () => exitCodes.killed),
          "TIMED_OUT"
        )
      }
      const exitCode = exit.value
      const isClosed = Option.isSome(yield* within(Deferred.await(closed), Option.some(pipesGrace)))
      if (exitCode !== 0) return yield* completed(exitCode, "EXIT_FAILURE")
      return yield* completed(exitCode, isClosed ? "OK" : "PIPES_LEFT_OPEN")
    })

    const mark = command.mark.join("=")
    const end = (process: Running["process"]) =>
      Effect.suspend(() =>
        ProcessTree.terminate({
          root: process.exitCode === null && process.signalCode === null ? process.pid : undefined,
          isMark: (entry) => entry === mark
        })
      )

    return yield* running.pipe(
      Effect.catchTag("CannotStart", ({ exitCode, message }) => {
        output.stderr(Buffer.from(`${message}\n`))
        output.end()
        return completed(exitCode, "EXIT_FAILURE")
      })
    )
  }).pipe(Effect.scoped)

const within = <A, E>(effect: Effect.Effect<A, E>, timeout: Option.Option<Duration.Duration>): Effect.Effect<Option.Option<A>, E> =>
  Option.match(timeout, {
    onNone: () => Effect.map(effect, Option.some),
    onSome: (duration) => Effect.timeoutOption(effect, duration)
  })
