/** A stream to an agent as Node's own clients take it. */
import type { AgentStream, AgentUnreachable } from "@atelier/core/network"
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
  readonly done: (error?: Error | null) => void
}

/**
 * The stream as a socket, which is destroyed when the scope closes. One fiber reads and one writes for as long as the socket lasts: a fiber for each
 * chunk costs more than to carry it.
 */
export const agentSocket = ({ finish, read, write }: AgentStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.gen(function* () {
    const isWanted = Effect.unsafeMakeLatch()
    const isGiven = Effect.unsafeMakeLatch()
    let given: Write | undefined
    const give = (next: Write): void => {
      given = next
      isGiven.unsafeOpen()
    }
    const made = ({ done, effect }: Write): Effect.Effect<void> => {
      const over = (error?: Error): void => {
        given = undefined
        done(error)
      }
      return Effect.matchCause(effect, { onFailure: (cause) => over(errorOf(cause)), onSuccess: () => over() })
    }
    const socket = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new Duplex({
            read: () => isWanted.unsafeOpen(),
            write: (chunk: Uint8Array, _encoding, done) => give({ effect: write(chunk), done }),
            final: (done) => give({ effect: finish, done })
          })
      ),
      (socket) =>
        Effect.sync(() => {
          // Pending operations may still fail, without a waiter
          socket.on("error", () => undefined)
          socket.destroy()
          // Node calls the writes behind it back with it
          given?.done(new Error(brokenOff))
        })
    )
    const reading = Effect.flatMap(isWanted.await, () => {
      isWanted.unsafeClose()
      return Effect.map(read, (bytes) => void socket.push(Option.getOrNull(bytes)))
    })
    const writing = Effect.flatMap(isGiven.await, () => {
      isGiven.unsafeClose()
      return given === undefined ? Effect.void : made(given)
    })
    const failed = (cause: Cause.Cause<AgentUnreachable>) => Effect.sync(() => socket.destroy(errorOf(cause)))
    // They end with the scope, wherever the socket is made
    yield* Effect.forkScoped(Effect.interruptible(Effect.catchAllCause(Effect.forever(reading), failed)))
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(writing)))
    return socket
  })
