/** Programs on terminals of their own, by a library that some machines do not have. */
import type { IPty } from "@lydell/node-pty"
import { Data, Effect } from "effect"
import { readSync } from "node:fs"
import { Readable } from "node:stream"

/** The program cannot be started on a terminal; `message` says why, to the caller. */
export class NoTerminal extends Data.TaggedError("NoTerminal")<{ readonly message: string }> {}

export interface TerminalProgram {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly cols: number
  readonly rows: number
  /** The terminal's type; `xterm-256color` unless given. */
  readonly term?: string
}

/** A terminal whose output comes as the program's own bytes, whatever text they are. */
export interface Pseudoterminal {
  readonly pty: IPty
  /** Calls back with each part of the output. */
  readonly onOutput: (take: (bytes: Buffer) => void) => void
  /** Lets the program wait with its output, or go on. The last output of a program that ends while it waits is not lost. */
  readonly pause: (isPaused: boolean) => void
}

/** Bytes of one read of a terminal, the most that the system gives at once, and how many such parts may wait. */
const partSize = 4096
const maximumParts = 256

/** With the encoding of all terminals the library hands out bytes, which its types do not describe. */
const bytesOf = (data: unknown): Buffer =>
  data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(String(data))

/** What the system holds of an output whose writers are gone. */
const heldBySystem = (fd: unknown): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  if (typeof fd !== "number") return parts
  try {
    while (parts.length < maximumParts) {
      const part = Buffer.alloc(partSize)
      const size = readSync(fd, part)
      if (size === 0) return parts
      parts.push(part.subarray(0, size))
    }
  } catch {
    // Nothing is left
  }
  return parts
}

/**
 * Hands over, before a terminal is closed, what Node and the system still hold of its output. It is lost otherwise in two cases. Node takes the end of a
 * terminal's last writer for the end of its output. And the library closes the terminal 200 ms after its program's end, also one that is paused or
 * that a busy agent has not read yet.
 */
const takeLast = (pty: IPty, take: (bytes: Buffer) => void): void => {
  // Parts of the library that its types do not describe
  const source: unknown = Reflect.get(pty, "_socket")
  if (!(source instanceof Readable)) return
  const destroy = source.destroy.bind(source)
  source.destroy = (error) => {
    if (!source.destroyed) {
      // Each part that Node holds goes to the listeners as it is read
      while (source.read() !== null) continue
      heldBySystem(Reflect.get(pty, "fd")).forEach(take)
    }
    return destroy(error)
  }
}

/** Starts programs on terminals. */
export type Open = (program: TerminalProgram) => Effect.Effect<Pseudoterminal, NoTerminal>

const noTerminal = (cause: unknown) => new NoTerminal({ message: cause instanceof Error ? cause.message : String(cause) })

/** Loads the library with the first terminal: machines for which it is not compiled run everything else. */
export const load: Effect.Effect<Open, NoTerminal> = Effect.map(
  Effect.tryPromise({
    try: () => import("@lydell/node-pty"),
    catch: () => new NoTerminal({ message: "This machine's agent has no terminals: the package @lydell/node-pty is not installed." })
  }),
  ({ spawn }): Open =>
    ({ args, cols, directory, environment, file, rows, term = "xterm-256color" }) =>
      Effect.map(
        Effect.try({
          try: () =>
            spawn(file, [...args], {
              name: term,
              cols,
              rows,
              cwd: directory,
              env: { ...environment, TERM: term },
              encoding: null
            }),
          catch: noTerminal
        }),
        (pty) => ({
          pty,
          pause: (isPaused) => (isPaused ? pty.pause() : pty.resume()),
          onOutput: (take) => {
            pty.onData((data: unknown) => take(bytesOf(data)))
            takeLast(pty, take)
          }
        })
      )
)
