/**
 * Streams that the service opens on an agent's session, to reach what listens beside the agent: an extension of this project. An agent offers
 * it by the query parameter `streams`, and an agent that does not is never asked.
 *
 * The service begins with a request, the agent answers it, and then the stream carries the target's bytes. Request and answer are JSON texts
 * with their length before them (`Message`).
 */
import { Data, Effect, Schema, type Scope } from "effect"
import type { ByteStream } from "./ByteStream.js"
import * as Message from "./Message.js"
import type { Session } from "./yamux/Session.js"
import type { StreamError } from "./yamux/YamuxError.js"

/** The value of the parameter `streams` that offers these streams: the version up to which the agent knows their kinds. */
export const offered = "3"

/** The version that an agent offers with a value of the parameter; 0 without it. */
export const versionOf = (value: string | ReadonlyArray<string> | undefined): number =>
  typeof value === "string" && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : 0

/** The version from which agents know streams to their processes and files. */
export const machineVersion = 2

/** The version from which agents serve SSH. */
export const sshVersion = 3

/** The request of a client that the service opens the stream for, by the id that the service's log has. */
const origin = { request_id: Schema.optional(Schema.String.pipe(Schema.maxLength(64))) }

/**
 * SSH: the bytes that follow are a client's. The service keeps the key that tells the workspace from others, in OpenSSH's form, and sends it along.
 * `client` is what uses the connection, for statistics.
 */
const SshRequest = Schema.Struct({
  kind: Schema.Literal("ssh"),
  host_key: Schema.String.pipe(Schema.maxLength(4096)),
  client: Schema.optional(Schema.Literal("ssh", "vscode", "jetbrains")),
  ...origin
})
export type SshRequest = typeof SshRequest.Type

/**
 * A TCP port of the loopback interface, seen from the agent; a terminal, which the first bytes of the stream name (`Pty.Init`); the agent's own
 * HTTP API; HTTP for the processes and files of the agent's machine; SSH; or the offer of another token (`TokenOffer`), which an agent takes that says so.
 */
export const Request = Schema.parseJson(
  Schema.Union(
    Schema.Struct({ kind: Schema.Literal("tcp"), port: Schema.Number.pipe(Schema.int(), Schema.between(1, 65_535)), ...origin }),
    Schema.Struct({ kind: Schema.Literal("pty"), ...origin }),
    Schema.Struct({ kind: Schema.Literal("api"), ...origin }),
    Schema.Struct({ kind: Schema.Literal("machine"), ...origin }),
    SshRequest,
    Schema.Struct({ kind: Schema.Literal("token"), ...origin })
  )
)
export type Request = typeof Request.Type

/** Why one process of the service opens no stream for another: the agent does not know such streams, or has as many open as it may. */
export const Reason = Schema.Literal("unable", "busy")
export type Reason = typeof Reason.Type

const Answer = Schema.parseJson(Schema.Struct({ error: Schema.optional(Schema.String), reason: Schema.optional(Reason) }))

/** The agent, or the process that it is connected to, cannot reach the target; `message` says why, to the caller. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string; readonly reason?: Reason | undefined }> {}

/** The stream with bytes that were read too early before its own. */
const withFirst = (stream: ByteStream, first: Uint8Array): ByteStream => {
  if (first.length === 0) return stream
  let early: Uint8Array | undefined = first
  const takeEarly = (): Uint8Array | undefined => {
    const bytes = early
    early = undefined
    return bytes
  }
  return {
    read: Effect.suspend(() => {
      const bytes = takeEarly()
      return bytes === undefined ? stream.read : Effect.succeedSome(bytes)
    }),
    write: (bytes) => stream.write(bytes),
    offer: (bytes) => stream.offer(bytes),
    finish: stream.finish,
    reset: stream.reset,
    whenBroken: stream.whenBroken,
    direct: { ...stream.direct, take: (ready) => takeEarly() ?? stream.direct.take(ready) }
  }
}

/** Opens a stream to a target beside the agent. It is closed with its scope. Fails with `Unreachable` if the agent cannot reach the target. */
export const open = (session: Session, request: Request): Effect.Effect<ByteStream, StreamError | Unreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const stream = yield* session.open
    yield* Effect.addFinalizer(() => stream.reset)
    yield* Message.write(stream, Request, request)
    const [{ error, reason }, rest] = yield* Message.read(stream, Answer)
    if (error !== undefined) return yield* new Unreachable({ message: error, reason })
    return withFirst(stream, rest)
  })

/** What the other side asks for on a stream that it has opened, and the stream behind it. */
export const requested = (stream: ByteStream): Effect.Effect<readonly [Request, ByteStream], StreamError> =>
  Effect.map(Message.read(stream, Request), ([request, rest]) => [request, withFirst(stream, rest)] as const)

/** Answers that the target is reached. */
export const reached = (stream: ByteStream): Effect.Effect<void, StreamError> => Message.writeText(stream, "{}")

/** Answers why the target is not reached, and finishes the stream. */
export const unreachable = (stream: ByteStream, error: string, reason?: Reason): Effect.Effect<void, StreamError> =>
  Effect.zipRight(Message.writeText(stream, JSON.stringify({ error: error.slice(0, 200), reason })), stream.finish)
