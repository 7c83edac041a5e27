/**
 * Runs one command of Terraform to its end, within the bounds of its job. Whatever it has started is gone when the effect has ended.
 * terraform.md §4 nos. 5, 6.
 */
import { ProcessTable, ProcessTree } from "@atelier/provisioner/engine"
import { Data, Deferred, Duration, Effect, Exit, Fiber, Queue } from "effect"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { StringDecoder } from "node:string_decoder"
import type { Readable } from "node:stream"
import type { ControlGroups } from "./ControlGroup.js"
import type { Containers } from "./Container.js"
import { type Bounds, type Excess, excesses } from "./Limits.js"
import { type Spent, type Watch, watch } from "./Watch.js"

/** The command could not be started, took too long, or used too much. */
export class CommandError extends Data.TaggedError("CommandError")<{ readonly message: string }> {}

/** The user that commands run as. */
export interface User {
  readonly uid: number
  readonly gid: number
}

/** What holds the commands of a job within their bounds. */
export interface Confinement {
  readonly bounds: Bounds
  readonly spent: Spent
  /** The folder of the job. */
  readonly folder: string
  /** Undefined where the machine lets this process make none. */
  readonly groups: ControlGroups | undefined
  /** Undefined for the user of this process. */
  readonly user: User | undefined
  /** Undefined where commands are processes of this machine. */
  readonly containers: Containers | undefined
  readonly processes: ProcessTable["Type"]
}

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
  /** Bytes that it may print, and what is told of more. */
  readonly output: { readonly bytes: number; readonly excess: Excess }
  readonly confinement: Confinement
}

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
      rest += last
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

/** How long a command may take to write its state after what it has started was killed. */
const hurriedGrace = Duration.seconds(10)

/** Milliseconds between two looks at a command that was asked to end. */
const lookAtEnding = 100

/** How a command ended. */
export interface Ended {
  /** Null after a signal. */
  readonly code: number | null
  readonly wasInterrupted: boolean
}

/** What ends the wait for a command. */
type Outcome = { readonly code: number | null } | Excess

/** The mark of a command in the environment of all that it has started. */
const mark = "ATELIER_TERRAFORM_COMMAND"

/**
 * Bytes that a process may reserve: the kernel then stops what grows between two looks. Programs reserve more than they use, such as stacks
 * of threads, so this is well above the bound.
 */
const mostOfProcess = ({ memory }: Bounds): number => memory + Math.max(memory, 2 * 1024 ** 3)

/** Bytes of a block in which `ulimit -f` counts. */
const block = 512

/**
 * Sets limits that the kernel holds for each process, waits for a line, and becomes the command. RLIMIT_DATA counts memory that can be written;
 * RLIMIT_AS counts addresses, and a Go program reserves a gigabyte of them at its start. A system without a limit goes on.
 */
const launcher = (bounds: Bounds): string =>
  [
    "ulimit -c 0 2>/dev/null",
    `ulimit -d ${Math.ceil(mostOfProcess(bounds) / 1024)} 2>/dev/null`,
    `ulimit -f ${Math.ceil(bounds.disk / block)} 2>/dev/null`,
    'read -r go && exec "$@" </dev/null'
  ].join("; ")

/** What a program of Go writes last where the kernel refuses it memory. */
const outOfMemory = /^(?:fatal error|runtime): .*(?:out of memory|cannot allocate memory)/

const signal = (pid: number, name: NodeJS.Signals): Effect.Effect<void> =>
  Effect.sync(() => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended already
    }
  })

/** A command that runs, as a process of this machine or in a container. */
export interface Running {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Deferred.Deferred<number | null, CommandError>
  /** Completes once its output has been read to the end. */
  readonly closed: Deferred.Deferred<void>
  /** Undefined if it has not been started. */
  readonly watch: Pick<Watch, "excess" | "look"> | undefined
  /** Asks the command to end, as a user's Ctrl-C does. */
  readonly interrupt: Effect.Effect<void>
  /** Kills what the command has started, but not the command itself, where that can be done. */
  readonly killFollowers: Effect.Effect<void>
  /** Ends all that is left of it. */
  readonly clear: Effect.Effect<void>
}

/** Kills what a command has started, while it ends, for as long as that uses too much. */
const keepWithin = ({ killFollowers, watch }: Running): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (watch === undefined) return yield* Effect.never
    for (;;) {
      const excess = yield* watch.look
      if (excess?.manner === "kill") return
      if (excess?.manner === "hurry") yield* killFollowers
      yield* Effect.sleep(lookAtEnding)
    }
  })

/** Ends a command: it is asked to, and killed after the grace with all that it has started. */
const stop = (running: Running, manner: Excess["manner"], grace: Duration.DurationInput): Effect.Effect<number | null, CommandError> =>
  Effect.gen(function* () {
    const { clear, ended, interrupt, killFollowers, watch } = running
    if (watch !== undefined && manner !== "kill") {
      if (manner === "hurry") yield* killFollowers
      yield* interrupt
      const patience = manner === "hurry" ? Duration.min(hurriedGrace, grace) : grace
      const end = Effect.raceFirst(Effect.exit(Deferred.await(ended)), keepWithin(running))
      yield* Effect.timeoutOption(Effect.interruptible(end), patience)
    }
    yield* clear
    return yield* Deferred.await(ended)
  })

/** Starts a command as a process of this machine in its group, and lets it begin. */
const startProcess = (command: Command, ended: Running["ended"], closed: Running["closed"]): Running => {
  const { confinement, directory, environment, options, program } = command
  const { bounds, folder, groups, processes, spent, user } = confinement
  const marked = `${folder}/${randomUUID()}`
  const child = spawn("/bin/sh", ["-c", launcher(bounds), "terraform", program, ...options], {
    cwd: directory,
    env: { ...environment, [mark]: marked },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    ...user
  })
  const fail = (error: Error) =>
    Deferred.unsafeDone(ended, Exit.fail(new CommandError({ message: `${program} cannot be started: ${error.message}` })))
  child.once("error", fail)
  child.once("exit", (code) => Deferred.unsafeDone(ended, Exit.succeed(code)))
  child.once("close", () => Deferred.unsafeDone(closed, Exit.void))
  // A process that has ended refuses the line; its end is noticed by itself
  child.stdin.on("error", () => {})
  const { pid } = child
  const group = pid === undefined ? undefined : groups?.make(bounds)
  try {
    if (pid !== undefined) group?.add(pid)
    child.stdin.end("go\n")
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)))
    // Without its line it ends
    child.stdin.end()
  }
  const watched = pid === undefined ? undefined : watch({ leader: pid, group, bounds, spent, folder })
  const marks = ProcessTree.kill({ leaders: [], marks: [`${mark}=${marked}`] })
  const killFollowers =
    watched === undefined
      ? Effect.void
      : Effect.flatMap(watched.followers, (pids) => Effect.forEach(pids, (one) => signal(one, "SIGKILL"), { discard: true }))
  return {
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    closed,
    watch: watched,
    interrupt: pid === undefined ? Effect.void : signal(pid, "SIGINT"),
    killFollowers,
    // A group outlives its leader while it has members
    clear: (pid === undefined ? Effect.void : signal(-pid, "SIGKILL")).pipe(
      Effect.zipRight(killFollowers),
      Effect.zipRight(group?.end ?? Effect.ignoreLogged(Effect.provideService(marks, ProcessTable, processes)))
    )
  }
}

/**
 * Call it where it cannot be interrupted, with what restores the caller's own region. Interrupted then, it asks the command to end, as a user's
 * Ctrl-C does, kills what is left after `grace`, and answers. A canceled apply has a state that its failure carries, and an
 * interruptible region would lose that failure.
 */
export const run = (
  command: Command,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.Effect<Ended, CommandError> =>
  Effect.gen(function* () {
    const { bound, confinement, grace, onLine, options, output, timeout } = command
    const ended = yield* Deferred.make<number | null, CommandError>()
    const closed = yield* Deferred.make<void>()
    const outcome = yield* Deferred.make<Outcome, CommandError>()
    const running = yield* confinement.containers === undefined
      ? Effect.sync(() => startProcess(command, ended, closed))
      : confinement.containers.start(command, ended, closed)

    const lines = yield* Queue.dropping<Line | undefined>(maximumWaiting)
    const writing = yield* Effect.forkDaemon(write(lines, onLine))
    let printed = 0
    let lacksMemory = false
    // Read without pause: with a full pipe Terraform does not react to signals
    const readers = (["stdout", "stderr"] as const).map((stream) => {
      const reader = makeLines((text) => {
        if (stream === "stderr" && outOfMemory.test(text)) lacksMemory = true
        lines.unsafeOffer({ text, stream })
      })
      running[stream].on("data", (chunk: Buffer) => {
        printed += chunk.length
        if (printed <= output.bytes) reader.add(chunk)
        else Deferred.unsafeDone(outcome, Exit.succeed(output.excess))
      })
      running[stream].on("error", () => {})
      return reader
    })

    const tooLong = Effect.as(Effect.sleep(timeout), { said: bound, manner: "interrupt" } satisfies Excess)
    const limits = Effect.raceFirst(tooLong, running.watch?.excess ?? Effect.never)
    const ends = Effect.raceFirst(
      Effect.map(Deferred.await(ended), (code): Outcome => ({ code })),
      limits
    )
    const waiting = yield* Effect.forkDaemon(Effect.interruptible(Deferred.complete(outcome, ends)))
    const waited = yield* Effect.exit(restore(Deferred.await(outcome)))
    yield* Fiber.interrupt(waiting)
    const wasInterrupted = Exit.isInterrupted(waited)
    const excess = Exit.isSuccess(waited) && "said" in waited.value ? waited.value : undefined
    // What the kernel has ended says so in its group
    const hasFailed = Exit.isSuccess(waited) && "code" in waited.value && waited.value.code !== 0
    const last = hasFailed && running.watch !== undefined ? yield* running.watch.look : undefined
    const code = yield* Effect.exit(stop(running, wasInterrupted ? "interrupt" : (excess?.manner ?? "kill"), grace))
    yield* Effect.timeoutOption(Effect.interruptible(Deferred.await(closed)), drainTime)
    running.stdout.destroy()
    running.stderr.destroy()
    for (const reader of readers) reader.end()
    // A full queue takes no end; its lines are written first
    yield* Effect.repeat(Queue.offer(lines, undefined).pipe(Effect.zipLeft(Effect.yieldNow())), { until: (taken) => taken })
    yield* Fiber.join(writing)
    const told = excess ?? last ?? (hasFailed && lacksMemory ? excesses.memory(confinement.bounds, "kill") : undefined)
    if (told !== undefined) return yield* new CommandError({ message: `terraform ${options[0] ?? ""} was ended: ${told.said}` })
    return { code: yield* code, wasInterrupted }
  })
