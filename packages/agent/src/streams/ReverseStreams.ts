/** Leads streams that the server opens to terminals, to the agent's API, to the processes and files of the machine, to its SSH server, and to the ports of this machine's loopback interface. */
import { connect, type Socket } from "node:net"
import { ReverseStream, StreamReset, type ByteStream, type Session, type SessionEnded, type StreamError } from "@atelier/agent-protocol"
import type { Machine } from "../machine/Machine.js"
import type { Ssh } from "../ssh/Ssh.js"
import type { Api } from "./Api.js"
import { foreign, type OwnPorts } from "./OwnPorts.js"
import { type Read, ReadBuffers } from "./ReadBuffers.js"
import type { Terminals } from "./Terminals.js"
import { Duration, Effect, Exit, Fiber, Scope } from "effect"

/** Streams open at a time; further ones are reset. */
export const maximumStreams = 512

/** How long a program may take to accept a connection. */
const connectWithin = Duration.seconds(10)

const brokenOff = () => new StreamReset({ by: "here", message: "The program broke the connection off" })

/** A connection to a program, which is paused, and who takes what is read from it. */
interface Program {
  readonly socket: Socket
  take: (read: Read) => void
}

const connectedTo = (port: number): Program => {
  const buffers = new ReadBuffers()
  const onread = {
    buffer: buffers.next,
    callback: (length: number, buffer: Uint8Array): boolean => {
      program.take(buffers.taken(length, buffer))
      return true
    }
  }
  // Programs may listen on either family's loopback address, and may go on answering after the server has finished.
  const socket = connect({ host: "localhost", port, autoSelectFamily: true, allowHalfOpen: true, onread })
  const program: Program = { socket: socket.pause(), take: () => undefined }
  return program
}

const connected = (port: number, own: OwnPorts): Effect.Effect<Program, string, Scope.Scope> =>
  Effect.gen(function* () {
    if (yield* Effect.promise(() => own.isForeign(port))) return yield* Effect.fail(foreign(port))
    const connecting = Effect.sync(() => connectedTo(port))
    const program = yield* Effect.acquireRelease(connecting, ({ socket }) => Effect.sync(() => void socket.destroy()))
    const { socket } = program
    yield* Effect.async<void, string>((resume) => {
      // The listener stays: an error that no reader waits for ends the connection, not the process.
      socket.on("error", () => resume(Effect.fail(`No program listens on port ${port} of the workspace.`)))
      socket.once("connect", () => resume(Effect.void))
    }).pipe(Effect.timeoutFail({ duration: connectWithin, onTimeout: () => `Port ${port} of the workspace does not answer.` }))
    return program
  })

/** Carries bytes between the server and the program in both directions, each no faster than the other side takes them, until both have ended. */
const carried = (stream: ByteStream, program: Program): Effect.Effect<void, StreamError> =>
  Effect.async((resume) => {
    const { finish, put, take } = stream.direct
    const { socket } = program
    let open = 2
    let isOver = false
    const end = (): void => {
      open -= 1
      if (open === 0) resume(Effect.void)
    }
    const fail = (error: StreamError): void => resume(Effect.fail(error))
    const upwards = (): void => {
      for (;;) {
        const bytes = isOver ? undefined : take(upwards)
        if (bytes === undefined) return
        if (bytes === null) {
          socket.end()
          return end()
        }
        if (!(bytes instanceof Uint8Array)) return fail(bytes)
        if (!socket.write(bytes)) return void socket.once("drain", upwards)
      }
    }
    let isWaiting = false
    let hasEnded = false
    const endDownwards = (): void => {
      finish()
      end()
    }
    program.take = ({ bytes, sent }) => {
      isWaiting = true
      const taken = (error?: StreamError): void => {
        isWaiting = false
        if (error !== undefined) return fail(error)
        if (hasEnded) endDownwards()
        else if (!isOver && socket.isPaused()) socket.resume()
      }
      put(bytes, taken, sent)
      if (isWaiting) socket.pause()
    }
    // A paused socket ends too, once its last bytes have been handed over
    socket.once("end", () => {
      hasEnded = true
      if (!isWaiting) endDownwards()
    })
    socket.once("close", () => {
      // Both directions have ended: its last bytes only wait for the server
      if (hasEnded && socket.writableFinished) return
      fail(brokenOff())
    })
    upwards()
    socket.resume()
    return Effect.sync(() => {
      isOver = true
    })
  })

/** What the agent itself serves. */
export interface Services {
  readonly terminals: Terminals
  readonly api: Api
  readonly machine: Machine
  readonly ssh: Ssh
  /** The ports that are led to. */
  readonly ports: OwnPorts
  /** Serves an offer of another token. `endOthers` ends the connection's other streams, and waits for their ends. */
  readonly token: (stream: ByteStream, endOthers: Effect.Effect<void>) => Effect.Effect<void, StreamError>
}

/** Lines of the log that are about a stream have the request that the server opened it for. */
const annotated =
  ({ request_id }: ReverseStream.Request) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    request_id === undefined ? effect : Effect.annotateLogs(effect, { request_id })

const ended = ({ message }: StreamError): Effect.Effect<void> => Effect.logDebug(`A stream of the server ended: ${message}`)

const leadTo = (
  request: ReverseStream.Request,
  bytes: ByteStream,
  stream: ByteStream,
  { api, machine, ports, ssh, terminals, token }: Services,
  endOthers: Effect.Effect<void>
): Effect.Effect<void, StreamError> =>
  Effect.gen(function* () {
    yield* Effect.logDebug(`The server opens a stream: ${request.kind}`)
    if (request.kind === "pty") {
      yield* ReverseStream.reached(stream)
      return yield* terminals.serve(bytes)
    }
    if (request.kind === "api" || request.kind === "machine") {
      yield* ReverseStream.reached(stream)
      return yield* Effect.raceFirst((request.kind === "api" ? api : machine).serve(bytes), stream.whenBroken)
    }
    if (request.kind === "ssh") {
      yield* ReverseStream.reached(stream)
      return yield* Effect.raceFirst(ssh.serve(bytes, request), stream.whenBroken)
    }
    if (request.kind === "token") {
      yield* ReverseStream.reached(stream)
      return yield* token(bytes, endOthers)
    }
    const socket = yield* Effect.either(connected(request.port, ports))
    if (socket._tag === "Left") return yield* ReverseStream.unreachable(stream, socket.left)
    yield* ReverseStream.reached(stream)
    yield* Effect.raceFirst(carried(bytes, socket.right), stream.whenBroken)
  }).pipe(Effect.scoped)

const lead = (stream: ByteStream, services: Services, endOthers: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const [request, bytes] = yield* Effect.tapError(ReverseStream.requested(stream), ended)
    yield* annotated(request)(Effect.tapError(leadTo(request, bytes, stream, services, endOthers), ended))
  }).pipe(
    Effect.onError(() => stream.reset),
    Effect.ignore
  )

/** Serves the streams that the server opens, until the session is over. */
export const serve = (session: Session.Session, services: Services): Effect.Effect<never, SessionEnded, Scope.Scope> =>
  Effect.gen(function* () {
    const streams = yield* Effect.scope
    const leading = new Set<Fiber.RuntimeFiber<void>>()
    const endOthers = Effect.withFiberRuntime<void>((own) => Fiber.interruptAll([...leading].filter((fiber) => fiber !== own)))
    const next = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const stream = yield* restore(Scope.extend(session.accept, scope)).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        const fiber = yield* restore(lead(stream, services, endOthers)).pipe(
          Effect.onExit((exit) => Scope.close(scope, exit)),
          Effect.forkIn(streams)
        )
        leading.add(fiber)
        fiber.addObserver(() => void leading.delete(fiber))
      })
    )
    return yield* Effect.forever(next)
  })
