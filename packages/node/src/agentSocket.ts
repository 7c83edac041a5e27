/** A stream to an agent as Node's own clients take it. */
import { socketOptions } from "@atelier/agent-protocol"
import type { AgentStream, AgentUnreachable, DirectStream } from "@atelier/core/network"
import { Cause, Effect, Option, type Scope } from "effect"
import { Duplex } from "node:stream"

const brokenOff = "the stream was broken off"

const errorOf = (cause: Cause.Cause<AgentUnreachable>): Error =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => new Error(brokenOff),
    onSome: ({ message }) => new Error(message)
  })

/** A write that waits to be made, or the end of all writes. */
interface Write {
  readonly effect: Effect.Effect<void, AgentUnreachable>
  readonly done: (error?: Error) => void
}

/** The stream without effects: one fiber reads and one writes until the scope closes, as one for each piece costs more than to carry it. */
const directOf = ({ finish, read, write }: AgentStream): Effect.Effect<DirectStream, never, Scope.Scope> =>
  Effect.gen(function* () {
    const isWanted = Effect.unsafeMakeLatch()
    const isGiven = Effect.unsafeMakeLatch()
    let arrived: Uint8Array | null | Error | undefined
    let arrival: () => void = () => undefined
    let given: Write | undefined
    const arrive = (result: Uint8Array | null | Error): void => {
      arrived = result
      arrival()
    }
    const give = (next: Write): void => {
      given = next
      isGiven.unsafeOpen()
    }
    const reading = Effect.flatMap(isWanted.await, () => {
      isWanted.unsafeClose()
      return Effect.map(read, (bytes) => arrive(Option.getOrNull(bytes)))
    })
    const made = ({ done, effect }: Write): Effect.Effect<void> => {
      given = undefined
      return Effect.matchCause(effect, { onFailure: (cause) => done(errorOf(cause)), onSuccess: () => done() })
    }
    const writing = Effect.flatMap(isGiven.await, () => {
      isGiven.unsafeClose()
      return given === undefined ? Effect.void : made(given)
    })
    const failed = (cause: Cause.Cause<AgentUnreachable>) => Effect.sync(() => arrive(errorOf(cause)))
    // They end with the scope, wherever the socket is made
    yield* Effect.forkScoped(Effect.interruptible(Effect.catchAllCause(Effect.forever(reading), failed)))
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(writing)))
    return {
      take: (ready) => {
        if (arrived === undefined) {
          arrival = ready
          isWanted.unsafeOpen()
          return undefined
        }
        const result = arrived
        // The end and a failure stay
        if (result instanceof Uint8Array) arrived = undefined
        return result
      },
      put: (bytes, done) => give({ effect: write(bytes), done }),
      finish: () => give({ effect: finish, done: () => undefined })
    }
  })

/** An error of the socket's own: the stream was open, so the cause of its end is no reason why it could not be opened. */
const lost = ({ message }: Error): Error => new Error(message)

/** The stream as a socket, and how it ends. What the stream has taken has left for it. */
const socketOf = ({ finish, put, take }: DirectStream) => {
  const sending = (bytes: Uint8Array, done: (error?: Error) => void, sent?: () => void): void =>
    put(bytes, (error) => {
      done(error)
      if (error === undefined) sent?.()
    })
  const { breakOff, options } = socketOptions({ finish, put: sending, take }, () => socket, lost)
  const socket: Duplex = new Duplex(options)
  const end = (): void => {
    // Pending operations may still fail, without a waiter
    socket.on("error", () => undefined)
    socket.destroy()
    // Node calls the writes behind it back with it
    breakOff(new Error(brokenOff))
  }
  return { socket, end }
}

/** The stream by callbacks, until the scope closes. */
export const agentBytes = (stream: AgentStream): Effect.Effect<DirectStream, never, Scope.Scope> =>
  stream.direct === undefined ? directOf(stream) : Effect.succeed(stream.direct)

/** The stream as a socket, which is destroyed when the scope closes. */
export const agentSocket = (stream: AgentStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.gen(function* () {
    const direct = yield* agentBytes(stream)
    const { socket } = yield* Effect.acquireRelease(
      Effect.sync(() => socketOf(direct)),
      ({ end }) => Effect.sync(end)
    )
    return socket
  })
