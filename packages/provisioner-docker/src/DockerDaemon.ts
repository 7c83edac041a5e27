/** The Docker daemon as the engine asks it: each call has a bound, and ends with its caller. */
import { Data, Duration, Effect, type Scope } from "effect"
import type Docker from "dockerode"
import type { Agent } from "node:http"
import type { Readable } from "node:stream"
import type { DaemonAddress } from "./DaemonAddress.js"
import { sshAgent } from "./SshConnection.js"

/** The daemon refused a call, or did not answer it. `status` is that of HTTP; absent without an answer. */
export class DaemonError extends Data.TaggedError("DaemonError")<{ readonly message: string; readonly status?: number | undefined }> {}

/** How long a call may take that makes, moves or transfers nothing large. */
const usual = Duration.seconds(30)

/** One call: what it does, as the message of a failure says it, and how it is made. */
type Ask<A> = (docker: Docker, signal: AbortSignal) => Promise<A>

export interface DockerDaemon {
  /**
   * Calls the daemon. An interrupted call is given up, and the daemon may still do it. In a region that cannot be interrupted, the call still ends with its
   * bound.
   */
  readonly call: <A>(what: string, ask: Ask<A>, within?: Duration.DurationInput) => Effect.Effect<A, DaemonError>
  /** Opens a stream of the daemon, which ends with the scope. The bound is that of its beginning. */
  readonly stream: (
    what: string,
    ask: Ask<NodeJS.ReadableStream>,
    within?: Duration.DurationInput
  ) => Effect.Effect<Readable, DaemonError, Scope.Scope>
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const unreachableCodes = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ECONNRESET",
  "EACCES",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN"
])

/** Characters of the daemon's own words that are kept. */
const longestReason = 2_000

/** Why the daemon refused a call. The client reads the answer of a stream itself, and has its text in its own message alone. */
const reasonIn = (cause: unknown): string => {
  const said = field(field(cause, "json"), "message")
  const [, text = ""] = /^\(HTTP code \d+\) .*? - ([^]*)$/.exec(String(field(cause, "message"))) ?? []
  return (typeof said === "string" ? said : text).trim().slice(0, longestReason)
}

const failure = (what: string, address: string, cause: unknown): DaemonError => {
  const status = field(cause, "statusCode")
  if (typeof status === "number")
    return new DaemonError({ message: `${what}: ${reasonIn(cause) || `the daemon answers ${status}`}`, status })
  const code = field(cause, "code")
  const message = cause instanceof Error ? cause.message : String(cause)
  return new DaemonError({
    message:
      typeof code === "string" && unreachableCodes.has(code)
        ? `the Docker daemon at ${address} cannot be reached: ${message}`
        : `${what}: ${message}`
  })
}

const late = (what: string, within: Duration.Duration): DaemonError =>
  new DaemonError({ message: `${what}: the Docker daemon has not answered within ${Duration.format(within)}` })

/** The host is that of each connection that the agent makes. */
const throughSsh = { protocol: "http", host: "docker", port: 80 } as const

/** All that the client would otherwise take from the environment of the program is said here. */
const clientOptions = (address: DaemonAddress): Docker.DockerOptions & { readonly agent?: Agent } => {
  const none = { host: undefined, port: undefined, socketPath: undefined, ca: undefined, cert: undefined, key: undefined, timeout: 0 }
  switch (address._tag) {
    case "Socket":
      return { ...none, protocol: "http", socketPath: address.path }
    case "Tcp":
      return { ...none, ...address.tls, protocol: address.tls === undefined ? "http" : "https", host: address.host, port: address.port }
    case "Ssh":
      return { ...none, ...throughSsh, agent: sshAgent(address) }
  }
}

export const make = (address: DaemonAddress): DockerDaemon => {
  // Loaded with the first call: most of its modules are for builds that the engine does not use
  let loaded: Promise<Docker> | undefined
  const client = (): Promise<Docker> => (loaded ??= import("dockerode").then(({ default: Client }) => new Client(clientOptions(address))))

  const call: DockerDaemon["call"] = (what, ask, within = usual) =>
    Effect.tryPromise({
      try: async (signal) => ask(await client(), signal),
      catch: (cause) => failure(what, address.shown, cause)
    }).pipe(
      // A bound waits for what it interrupts, and the caller may be in a region that cannot be
      Effect.interruptible,
      Effect.timeoutFail({ duration: within, onTimeout: () => late(what, Duration.decode(within)) })
    )

  return {
    call,
    stream: (what, ask, within) =>
      Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      ).pipe(
        Effect.flatMap((controller) =>
          call(
            what,
            async (docker, signal) => {
              const give = () => controller.abort()
              signal.addEventListener("abort", give)
              const stream = await ask(docker, controller.signal)
              signal.removeEventListener("abort", give)
              // The end of the scope breaks it off: what its reader has no use for is no failure of the process
              stream.on("error", () => undefined)
              return stream as Readable // The client's type names the interface, and it answers a response of `node:http`
            },
            within
          )
        )
      )
  }
}

/** Whether the daemon knows nothing of the name. */
export const isMissing = ({ status }: DaemonError): boolean => status === 404

/** Whether another call got there first, or the name is taken. */
export const isConflict = ({ status }: DaemonError): boolean => status === 409
