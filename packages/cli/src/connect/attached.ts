/** A process in a workspace that is attached to the user's terminal, or to the program's streams. */
import { AtelierError, type Sandbox, type SandboxProcess } from "@atelier/client"
import { constants } from "node:os"
import { exitCodes, Failure, Interrupted, isPassing } from "../Failure.js"
import type { Session } from "../Session.js"
import { sizeOf } from "../terminal/size.js"

export interface AttachedOptions {
  /** Whether the process has a terminal. */
  readonly isTerminal: boolean
  readonly hasInput: boolean
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly timeout?: number | undefined
}

type Command = Parameters<Sandbox["spawn"]>[0]

/** Explains a program that the workspace does not have: users often give a line of the shell as one word. */
const notStarted = (error: unknown, command: Command): unknown => {
  if (!(error instanceof AtelierError) || typeof command === "string") return error
  const refusal = error.validations.find(({ field }) => field === "program")
  if (refusal === undefined) return error
  const isLine = command.length === 1 && /\s/.test(command[0])
  return new Failure({
    message: `The command did not start: ${refusal.detail}.`,
    hint: isLine ? "give a program and its arguments; sh -c 'LINE' runs a line of the shell." : undefined,
    code: exitCodes.noCommand,
    cause: error
  })
}

/** Milliseconds that an interrupted process has until the program ends without it. */
const lastWait = 5_000

/** Milliseconds after which a size is sent again that the service did not get. */
const resizeAgain = 1_000

/** Milliseconds that the end of a process may take which the user has left. */
const leavingTime = 500

/** Writes bytes and waits while the reader has enough. */
const write = (stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) return resolve()
    return void stream.write(bytes, () => resolve())
  })

const copyOut = async (from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<void> => {
  for await (const bytes of from) await write(to, bytes)
}

/** What follows `~` at the beginning of a line, as in OpenSSH. */
const escapes: ReadonlyMap<number, "leave" | "suspend" | "explain"> = new Map([
  [0x2e, "leave"],
  [0x1a, "suspend"],
  [0x3f, "explain"]
])

const explanation = ["~.  leaves the workspace", "~^Z stops this program", "~?  shows this text", "~~  sends the character ~"]

/** Divides what the user types into the keys for the terminal and those for the program itself. */
export const escapeKeys = () => {
  let isLineStart = true
  let isHeld = false
  return (bytes: Uint8Array): ReadonlyArray<Buffer | "leave" | "suspend" | "explain"> => {
    const parts: Array<Buffer | "leave" | "suspend" | "explain"> = []
    let passed: Array<number> = []
    const pass = (): void => {
      if (passed.length > 0) parts.push(Buffer.from(passed))
      passed = []
    }
    for (const byte of bytes) {
      if (isHeld) {
        isHeld = false
        const found = escapes.get(byte)
        if (found !== undefined) {
          pass()
          parts.push(found)
          isLineStart = true
          continue
        }
        passed.push(0x7e)
        if (byte === 0x7e) {
          isLineStart = false
          continue
        }
      }
      if (isLineStart && byte === 0x7e) isHeld = true
      else passed.push(byte)
      isLineStart = byte === 0x0d || byte === 0x0a
    }
    pass()
    return parts
  }
}

const copyIn = async ({ stdin: input }: SandboxProcess, session: Session, isTerminal: boolean, leave: () => void): Promise<void> => {
  const { stderr, stdin } = session
  const writer = input.getWriter()
  const keys = escapeKeys()
  for await (const chunk of stdin) {
    const parts = isTerminal ? keys(chunk as Buffer) : [chunk as Buffer]
    for (const part of parts) {
      if (part === "leave") return leave()
      else if (part === "explain") stderr.write(`\r\n${explanation.join("\r\n")}\r\n`)
      else if (part === "suspend") {
        stdin.setRawMode(false)
        stderr.write("\n")
        process.kill(process.pid, "SIGTSTP")
      } else if (part.length > 0) await writer.write(new Uint8Array(part))
    }
  }
  await writer.close()
}

/** Puts the user's terminal at the disposal of a process, and returns what gives it back. */
const takeTerminal = ({ stdin, stdout }: Session, process_: SandboxProcess): (() => void) => {
  let again: NodeJS.Timeout | undefined
  const resize = (): void => {
    clearTimeout(again)
    process_.resize(sizeOf(stdout)).catch((error: unknown) => {
      if (isPassing(error)) again = setTimeout(resize, resizeAgain).unref()
    })
  }
  // A program that was stopped finds the terminal as the shell has left it
  const resumed = (): void => {
    stdin.setRawMode(true)
    resize()
  }
  stdin.setRawMode(true)
  stdout.on("resize", resize)
  process.on("SIGCONT", resumed)
  return () => {
    clearTimeout(again)
    stdout.off("resize", resize)
    process.off("SIGCONT", resumed)
    stdin.setRawMode(false)
  }
}

const signalNumber = (name: string | null): number => (constants.signals as Readonly<Record<string, number>>)[name ?? ""] ?? 0

/**
 * Runs a command to its end and returns its exit code, or 128 and the number of the signal that ended it. What the command has started in the background goes on, as after SSH.
 */
export const attached = async (
  sandbox: Sandbox,
  command: Command,
  { cwd, env, hasInput, isTerminal, timeout }: AttachedOptions,
  session: Session
): Promise<number> => {
  const { signal, stderr, stdin, stdout } = session
  const pty = isTerminal ? sizeOf(stdout) : undefined
  const child = await sandbox.spawn(command, { cwd, env, timeout, pty, stdin: hasInput, signal }).catch((error: unknown) => {
    throw notStarted(error, command)
  })
  const giveBack = isTerminal && stdin.isTTY ? takeTerminal(session, child) : () => {}
  const left = new AbortController()
  const interrupt = (): void => {
    const name = signal.reason instanceof Interrupted ? signal.reason.signal : "SIGTERM"
    child.kill(name).catch(() => {})
    setTimeout(() => left.abort(new Interrupted()), lastWait).unref()
  }
  signal.addEventListener("abort", interrupt)
  let hasEnded = false
  try {
    const output = Promise.all([copyOut(child.stdout, stdout), copyOut(child.stderr, stderr)])
    const leave = (): void => left.abort(new Failure({ message: "You have left the workspace.", code: exitCodes.noCommand }))
    // Its end is that of the process, and input that is left over does not matter
    if (hasInput) copyIn(child, session, isTerminal && stdin.isTTY, leave).catch(() => {})
    else output.catch(() => {})
    const leaving = new Promise<never>((_, reject) => {
      left.signal.addEventListener("abort", () => reject(left.signal.reason))
    })
    await Promise.race([output, leaving])
    const end = await child.wait({ signal: left.signal })
    hasEnded = !signal.aborted
    return end.exitCode ?? 128 + signalNumber(end.signal)
  } finally {
    signal.removeEventListener("abort", interrupt)
    giveBack()
    stdin.destroy()
    // To forget a process would end what it has left behind: the agent forgets it by itself
    if (hasEnded) child.detach()
    // A connection that the user has left may be stuck
    else await child.delete({ signal: AbortSignal.timeout(left.signal.aborted ? leavingTime : lastWait) }).catch(() => child.detach())
  }
}
