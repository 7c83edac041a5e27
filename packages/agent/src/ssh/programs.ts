/** Shells and commands of sessions. */
import { spawn } from "node:child_process"
import { access, constants as fileConstants } from "node:fs/promises"
import { constants } from "node:os"
import { breakOff, hangUp, signal, streamsOf } from "./family.js"
import type { Host, Login } from "./Host.js"
import type { Output } from "./Output.js"

/** The terminal that a client has asked for. */
export interface Screen {
  cols: number
  rows: number
  readonly term: string
}

export interface Order {
  /** Undefined for the login shell. */
  readonly command: string | undefined
  readonly screen: Screen | undefined
  readonly variables: Iterable<readonly [string, string]>
}

/** A program that was started for a session. */
export interface Program {
  readonly signal: (name: NodeJS.Signals) => void
  readonly resize: (screen: Screen) => void
  /** Ends it and its processes, because its client has gone. */
  readonly end: () => void
}

interface Running {
  readonly output: Output
  readonly host: Host
  /** Called once when the program has ended or could not be started. */
  readonly over: () => void
}

/** The status of a command that is not found, and of one that cannot be started, as shells have them. */
const notFound = 127
const notStarted = 126

const sizeOf = (size: number, otherwise: number): number => (size > 0 ? Math.min(size, 0xffff) : otherwise)

/** A terminal's size as programs can have it. */
export const fitted = (cols: number, rows: number): { readonly cols: number; readonly rows: number } => ({
  cols: sizeOf(cols, 80),
  rows: sizeOf(rows, 24)
})

const isExecutable = (file: string): Promise<boolean> =>
  access(file, fileConstants.X_OK).then(
    () => true,
    () => false
  )

const nameOf = (number: number): string | undefined =>
  Object.entries(constants.signals)
    .find(([, value]) => value === number)?.[0]
    .slice("SIG".length)

/** What a session of SSH adds to the variables of a workspace. Programs tell by them that they are used from elsewhere; no address is known. */
const ofSsh = { SSH_CLIENT: "127.0.0.1 0 22", SSH_CONNECTION: "127.0.0.1 0 127.0.0.1 22" }

const startOnTerminal = async (
  { host, output, over }: Running,
  { command, screen }: Order & { readonly screen: Screen },
  login: Login,
  environment: Readonly<Record<string, string>>,
  mark: readonly [string, string]
): Promise<Program> => {
  const { channel } = output
  if (command === undefined) output.write(Buffer.from((await login.greeting()).replaceAll(/\r?\n/g, "\r\n")))
  const terminal = await host.openTerminal({
    file: login.shell,
    args: command === undefined ? ["-l"] : ["-c", command],
    directory: login.directory,
    environment,
    ...fitted(screen.cols, screen.rows),
    term: screen.term
  })
  let isRunning = true
  output.pausing(terminal.pause)
  terminal.onOutput((bytes) => output.write(bytes))
  terminal.onExit((code, number) => {
    isRunning = false
    over()
    output.finish(code, number === 0 ? undefined : nameOf(number))
  })
  channel.on("data", (bytes: Buffer) => {
    if (isRunning) terminal.write(bytes)
  })
  // The end-of-file character of a terminal
  channel.on("end", () => {
    if (isRunning) terminal.write(Buffer.from("\x04"))
  })
  return {
    signal: (name) => void (isRunning && signal(-terminal.pid, name)),
    resize: (to) => {
      const { cols, rows } = fitted(to.cols, to.rows)
      if (isRunning) terminal.resize(cols, rows)
    },
    end: () => {
      if (!isRunning) return
      hangUp(terminal.pid, mark)
      terminal.hangUp()
    }
  }
}

const startOnPipes = (
  { output, over }: Running,
  { command }: Order,
  { directory, shell }: Login,
  environment: Readonly<Record<string, string>>,
  mark: readonly [string, string]
): Program => {
  const options = { cwd: directory, env: { ...environment }, detached: true, stdio: "pipe" } as const
  const child = spawn(shell, command === undefined ? ["-l"] : ["-c", command], options)
  const { pid, stderr, stdin, stdout } = child
  // What it does not read is lost with it
  stdin.on("error", () => undefined)
  child.once("error", ({ message }) => {
    if (pid !== undefined) return
    over()
    output.writeError(Buffer.from(`The program cannot be started: ${message}\n`))
    output.finish(notStarted)
  })
  if (pid === undefined) return { signal: () => undefined, resize: () => undefined, end: () => undefined }
  const streams = streamsOf(pid)
  output.pump(stdout, (bytes) => output.write(bytes))
  output.pump(stderr, (bytes) => output.writeError(bytes))
  output.channel.pipe(stdin)
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  child.once("close", (code, signalName) => {
    over()
    output.finish(code ?? 0, signalName?.slice("SIG".length))
  })
  return {
    signal: (name) => void (isRunning() && signal(-pid, name)),
    resize: () => undefined,
    end: () => {
      if (isRunning()) breakOff(pid, streams, mark)
      // What it has left behind may hold them open
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
    }
  }
}

/** Starts the program of a session. Without a shell, or without terminals, the client is told so as the program's output. */
export const start = async (running: Running, order: Order): Promise<Program | undefined> => {
  const { host, output, over } = running
  const refuse = (message: string, code: number): undefined => {
    over()
    output.writeError(Buffer.from(`${message}\r\n`))
    output.finish(code)
    return undefined
  }
  const login = await host.login()
  if (login.shell.includes("/") && !(await isExecutable(login.shell))) {
    return refuse(`The workspace has no shell: ${login.shell} is not found. Files can be copied by SFTP.`, notFound)
  }
  const mark = host.mark()
  const environment = { ...login.variables, ...ofSsh, ...Object.fromEntries(order.variables), [mark[0]]: mark[1] }
  const { screen } = order
  try {
    return screen === undefined
      ? startOnPipes(running, order, login, environment, mark)
      : await startOnTerminal(running, { ...order, screen }, login, environment, mark)
  } catch (cause) {
    return refuse(cause instanceof Error ? cause.message : String(cause), notStarted)
  }
}
