/** What the SSH server needs of its agent. Types alone: the server is a script of its own, which shares no module with the rest. */
import type { Duplex } from "node:stream"
import type { TerminalProgram } from "../streams/Pseudoterminal.js"

/** How statistics and logs name what a session is used by. */
export type Client = "ssh" | "vscode" | "jetbrains"

/** The workspace as a login finds it. */
export interface Login {
  readonly directory: string
  readonly variables: Readonly<Record<string, string>>
  readonly shell: string
  readonly home: string
  /** What a login shell on a terminal shows first. */
  readonly greeting: () => Promise<string>
}

/** A program on a terminal. */
export interface Terminal {
  readonly pid: number
  readonly onOutput: (take: (bytes: Buffer) => void) => void
  /** Calls back when the program has ended and its output was handed over; the signal is 0 for a program that ended by itself. */
  readonly onExit: (take: (code: number, signal: number) => void) => void
  readonly pause: (isPaused: boolean) => void
  readonly write: (bytes: Buffer) => void
  readonly resize: (cols: number, rows: number) => void
  /** Takes the terminal from its programs, which get SIGHUP. */
  readonly hangUp: () => void
}

export interface TerminalOrder extends TerminalProgram {
  readonly term: string
}

export interface Host {
  readonly login: () => Promise<Login>
  /** Starts a program on a terminal; rejects with the reason for the user. */
  readonly openTerminal: (order: TerminalOrder) => Promise<Terminal>
  /** An entry of the environment by which the processes of a session are found. */
  readonly mark: () => readonly [name: string, value: string]
  /** Counts a session in the statistics until the returned function is called. */
  readonly begin: (client: Client) => () => void
  /** The variable in which a client tells what uses a session. */
  readonly clientVariable: string
}

export interface Options {
  /** The host key, in a form that OpenSSH reads. */
  readonly hostKey: string
  /** What uses the connection, unless a session says otherwise. */
  readonly client: Client
  readonly host: Host
}

/** Serves SSH on a connection. Resolves when it has closed, and rejects if the server cannot begin. */
export type Serve = (socket: Duplex, options: Options) => Promise<void>
