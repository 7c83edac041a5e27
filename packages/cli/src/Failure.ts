/** Failures with their reason, what to do about them, and the exit code. */
import { AtelierError } from "@atelier/client"

/** The exit codes of the program. docs/command-line.md lists them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notLoggedIn: 3,
  notFound: 4,
  forbidden: 5,
  unreachable: 6,
  interrupted: 130,
  /** A command of a workspace did not begin or its connection was lost: its own exit codes are 0 to 254. */
  noCommand: 255
} as const

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "The command succeeded.",
  failed: "The command failed.",
  usage: "The arguments are wrong, or a value is missing that only a terminal can ask for.",
  notLoggedIn: "There is no login, or it has ended.",
  notFound: "Something does not exist, or the user may not see it.",
  forbidden: "The user may not do this.",
  unreachable: "The service did not answer.",
  interrupted: "The user interrupted the command.",
  noCommand: "`exec`, `ssh` and `sandbox run`: the command did not begin, or its connection was lost."
}

export interface FailureFields {
  /** What failed and why. */
  readonly message: string
  /** More about the reason: a line each. */
  readonly details?: ReadonlyArray<string> | undefined
  /** What to do. */
  readonly hint?: string | undefined
  readonly code?: number | undefined
  readonly cause?: unknown
}

/** A failure that is told without a stack. */
export class Failure extends Error {
  override readonly name = "Failure"
  readonly details: ReadonlyArray<string>
  readonly hint: string | undefined
  readonly code: number

  constructor({ cause, code = exitCodes.failed, details = [], hint, message }: FailureFields) {
    super(message, { cause })
    this.details = details
    this.hint = hint
    this.code = code
  }
}

/** A failure of the arguments. */
export const usage = (message: string, hint?: string): Failure => new Failure({ message, hint, code: exitCodes.usage })

/** The user has interrupted the command. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
  constructor(
    readonly note?: string,
    /** The signal of the operating system. */
    readonly signal: NodeJS.Signals = "SIGINT"
  ) {
    super("Interrupted.")
  }
}

const codeOf = (status: number): number => {
  if (status === 0 || status === 502 || status === 503 || status === 504) return exitCodes.unreachable
  if (status === 401) return exitCodes.notLoggedIn
  if (status === 403) return exitCodes.forbidden
  return status === 404 || status === 410 ? exitCodes.notFound : exitCodes.failed
}

/** Whether OpenSSL reports an answer in another protocol than TLS, such as HTTP. */
const isWithoutTls = ({ detail, status }: AtelierError): boolean => status === 0 && /wrong.version.number/i.test(detail ?? "")

/** What to do about answers of these statuses, where a command knows better; 0 is that of no answer. */
export type Hints = Readonly<Partial<Record<number, string>>>

const hintOf = ({ retryAfter, status }: AtelierError, program: string, hints: Hints): string | undefined => {
  const known = hints[status]
  if (known !== undefined) return known
  if (status === 0) return `check the network, and the address in ATELIER_URL or "${program} context list".`
  if (status === 401) return `log in again with "${program} login".`
  if (status === 403) return "ask an administrator for the right to do this."
  return retryAfter === undefined ? undefined : `try again in ${retryAfter} seconds.`
}

/** Whether the same request may be answered later: the service did not answer, or could not. */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof Failure) return error.code === exitCodes.unreachable
  if (!(error instanceof AtelierError)) return false
  return error.cause instanceof Failure ? isPassing(error.cause) : error.status === 0 || error.status === 429 || error.status >= 500
}

/** Whether the service may have got a request whose answer did not come. */
export const isAnswerLost = (error: unknown): boolean => {
  if (!(error instanceof AtelierError)) return false
  // A proxy answers so in place of a service that it has sent the request to
  if (error.status === 502 || error.status === 504) return true
  const { cause } = error
  return error.status === 0 && cause instanceof Error && isCut(cause)
}

/** What the operating system refuses, in words. */
const refusals: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOENT: "does not exist",
  ENOTDIR: "is not in a directory",
  EISDIR: "is a directory",
  EADDRINUSE: "is in use"
}

/** Whether the connection of an answer was cut while its bytes came. */
const isCut = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ECONNRESET"

interface SystemError extends Error {
  readonly code: string
  readonly path?: string | undefined
  readonly address?: string | undefined
  readonly port?: number | undefined
}

const isOfSystem = (error: unknown): error is SystemError => error instanceof Error && "syscall" in error && "code" in error

/** A failure of the operating system, with the file or the address that it is about. */
const systemFailure = (error: SystemError): Failure => {
  const { address, code, path, port } = error
  const subject = path ?? (port === undefined ? undefined : `${address ?? "port"}:${port}`)
  const refusal = refusals[code]
  return new Failure({ message: subject === undefined || refusal === undefined ? error.message : `${subject}: ${refusal}.`, cause: error })
}

/** The failure of a write, which the system reports without saying what was written. Other errors stay as they are. */
export const writeFailure = (error: unknown, subject: string): unknown =>
  isOfSystem(error) && error.path === undefined
    ? new Failure({ message: `${subject}: ${refusals[error.code] ?? error.message}.`, cause: error })
    : error

/** Returns any error as a failure. */
export const failureOf = (error: unknown, program: string, hints: Hints = {}): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof AtelierError) {
    // Of the program itself, while it made the request
    if (error.cause instanceof Failure) return error.cause
    if (isWithoutTls(error))
      return new Failure({
        message: "The service has no TLS.",
        hint: "begin its address with http://.",
        code: exitCodes.unreachable,
        cause: error
      })
    const { detail = "", message, requestId, status, validations } = error
    const rules = validations.map(({ detail: rule }) => rule)
    return new Failure({
      message,
      details: [
        ...validations.map(({ detail: rule, field }) => `${field}: ${rule}`),
        ...detail.split("\n").filter((line) => line !== "" && !rules.includes(line)),
        ...(status >= 500 && requestId !== undefined ? [`The service's log has this request as ${requestId}.`] : [])
      ],
      hint: hintOf(error, program, hints),
      code: codeOf(status),
      cause: error
    })
  }
  if (error instanceof TypeError || error instanceof RangeError) {
    // What the client refuses to send
    if (/^[\w ]+: must /.test(error.message)) return new Failure({ message: error.message, code: exitCodes.usage, cause: error })
  }
  if (isCut(error)) return new Failure({ message: "The connection to the service was lost.", code: exitCodes.unreachable, cause: error })
  if (isOfSystem(error)) return systemFailure(error)
  return new Failure({ message: error instanceof Error ? error.message : String(error), cause: error })
}
