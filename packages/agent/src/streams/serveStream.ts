import type { ByteStream, StreamError } from "@atelier/agent-protocol"
import { Effect, Option, type Scope } from "effect"
import type { Server } from "node:http"
import { Duplex } from "node:stream"

const broken = new Error("the stream was broken off")

/** The next write, or the end of the writes. */
interface Write {
  readonly effect: Effect.Effect<void, StreamError>
  readonly done: (error?: Error | null) => void
}

/**
 * A stream of the server as Node's servers take it. It is destroyed when the scope closes. One fiber reads and one writes for as long as the stream
 * lasts: a fiber for each chunk costs more than to carry it.
 */
export const streamSocket = ({ finish, read, write }: ByteStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.gen(function* () {
    const isWanted = Effect.unsafeMakeLatch()
    const isGiven = Effect.unsafeMakeLatch()
    let given: Write | undefined
    const give = (next: Write): void => {
      given = next
      isGiven.unsafeOpen()
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
          given?.done(broken)
        })
    )
    const reading = Effect.flatMap(isWanted.await, () => {
      isWanted.unsafeClose()
      return Effect.map(read, (chunk) => void socket.push(Option.getOrNull(chunk)))
    })
    const writing = Effect.flatMap(isGiven.await, () => {
      isGiven.unsafeClose()
      if (given === undefined) return Effect.void
      const { done, effect } = given
      const over = (error: Error | null): void => {
        given = undefined
        done(error)
      }
      return Effect.matchCause(effect, { onFailure: () => over(broken), onSuccess: () => over(null) })
    })
    const ended = Effect.sync(() => void socket.destroy(broken))
    yield* Effect.forkScoped(Effect.interruptible(Effect.catchAllCause(Effect.forever(reading), () => ended)))
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(writing)))
    return socket
  })

/** Gives a stream to an HTTP server as one of its connections. Completes when the connection has closed. */
export const serveStream = (server: Server, stream: ByteStream): Effect.Effect<void> =>
  Effect.gen(function* () {
    const socket = yield* streamSocket(stream)
    yield* Effect.async<void>((resume) => {
      socket.once("close", () => resume(Effect.void))
      server.emit("connection", socket)
    })
  }).pipe(Effect.scoped)
