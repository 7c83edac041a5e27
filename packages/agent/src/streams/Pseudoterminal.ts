/** Programs on terminals of their own, by a library that some machines do not have. */
import type { IPty } from "@lydell/node-pty"
import { Data, Effect } from "effect"

/** The program cannot be started on a terminal; `message` says why, to the caller. */
export class NoTerminal extends Data.TaggedError("NoTerminal")<{ readonly message: string }> {}

export interface TerminalProgram {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly cols: number
  readonly rows: number
}

/** A terminal whose output comes as the program's own bytes, whatever text they are. */
export interface Pseudoterminal {
  readonly pty: IPty
  /** Calls back with each part of the output. */
  readonly onOutput: (take: (bytes: Buffer) => void) => void
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
    ({ args, cols, directory, environment, file, rows }) =>
      Effect.map(
        Effect.try({
          try: () =>
            spawn(file, [...args], {
              name: "xterm-256color",
              cols,
              rows,
              cwd: directory,
              env: { ...environment, TERM: "xterm-256color" },
              encoding: null
            }),
          catch: noTerminal
        }),
        (pty) => ({
          pty,
          // With this encoding the library hands out bytes, which its types do not describe
          onOutput: (take) =>
            void pty.onData((data: unknown) =>
              take(data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(String(data)))
            )
        })
      )
)
