/** A process that stays, with its output and its input: on pipes or on a terminal. */
import { Deferred, Effect, FiberId } from "effect"
import { load } from "../../streams/Pseudoterminal.js"
import { Refused } from "../Route.js"
import { type End, start } from "./Child.js"
import { signalOf } from "./Group.js"
import type { Program, TerminalSize } from "./Order.js"
import type { Channel } from "./Ring.js"
import type { Place } from "./Running.js"

export interface Source {
  readonly pid: number
  /** The id of the process's group, while the process runs. */
  readonly leader: () => number | undefined
  readonly isTerminal: boolean
  /** The end of the process itself. */
  readonly ended: Effect.Effect<End>
  /** The same once its output is read. */
  readonly completed: Effect.Effect<End>
  /** Lets the process wait with its output, or go on. */
  readonly pause: (isPaused: boolean) => void
  /** Writes to the input. Returns when the process has taken so much that more may follow. */
  readonly write: (bytes: Buffer) => Effect.Effect<void>
  readonly closeInput: () => void
  readonly resize: (size: TerminalSize) => void
}

type Output = (channel: Channel, bytes: Buffer) => void

/** The end-of-file character of a terminal. */
const endOfFile = "\x04"

/** Starts a program on pipes. */
export const onPipes = (program: Program, place: Place, output: Output): Effect.Effect<Source, Refused> =>
  Effect.map(start(program, place), (child) => {
    const { stderr, stdin, stdout } = child.process
    stdout.on("data", (bytes: Buffer) => output(1, bytes))
    stderr.on("data", (bytes: Buffer) => output(2, bytes))
    return {
      pid: child.pid,
      leader: child.leader,
      isTerminal: false,
      ended: Deferred.await(child.ended),
      completed: Deferred.await(child.completed),
      pause: (isPaused) => {
        for (const readable of [stdout, stderr])
          if (isPaused) readable.pause()
          else readable.resume()
      },
      write: (bytes) =>
        Effect.async((resume) => {
          if (stdin.writable) stdin.write(bytes, () => resume(Effect.void))
          else resume(Effect.void)
        }),
      closeInput: () => void stdin.end(),
      resize: () => undefined
    }
  })

/** Starts a program on a terminal. */
export const onTerminal = (program: Program, size: TerminalSize, place: Place, output: Output): Effect.Effect<Source, Refused> =>
  Effect.gen(function* () {
    const open = yield* load
    const [name, value] = place.mark
    const { onOutput, pause, pty } = yield* open({ ...program, environment: { ...program.environment, [name]: value }, ...size })
    place.started(pty.pid)
    const ended = Deferred.unsafeMake<End>(FiberId.none)
    onOutput((bytes) => output(1, bytes))
    pty.onExit(({ exitCode, signal }) => {
      place.leave()
      const end = signal ? { exit_code: null, signal: signalOf(signal) } : { exit_code: exitCode, signal: null }
      Deferred.unsafeDone(ended, Effect.succeed(end))
    })
    const isOver = Deferred.isDone(ended)
    const whileOpen = (act: () => void) => Effect.flatMap(isOver, (over) => (over ? Effect.void : Effect.sync(act)))
    return {
      pid: pty.pid,
      leader: () => (Effect.runSync(isOver) ? undefined : pty.pid),
      isTerminal: true,
      ended: Deferred.await(ended),
      completed: Deferred.await(ended),
      pause,
      // The library writes bytes as they are, which its types do not describe
      write: (bytes) => whileOpen(() => pty.write(bytes as unknown as string)),
      closeInput: () => Effect.runSync(whileOpen(() => pty.write(endOfFile))),
      resize: ({ cols, rows }) => Effect.runSync(whileOpen(() => pty.resize(cols, rows)))
    } satisfies Source
  }).pipe(
    Effect.mapError(
      ({ message }) => new Refused({ status: 400, message: "The program cannot be started on a terminal.", detail: message })
    ),
    Effect.tapError(() => Effect.sync(place.leave))
  )
