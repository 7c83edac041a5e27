import { type ByteStream, type DirectStream, socketOptions } from "@atelier/agent-protocol"
import { Effect, type Scope } from "effect"
import type { Server } from "node:http"
import { Duplex } from "node:stream"

const broken = new Error("the stream was broken off")

/** Bytes that wait in a socket to be sent: enough that the next piece of a file is read while they leave. */
const writableHighWaterMark = 256 * 1024

/** A stream as a socket, and how it ends. */
const socketOf = (stream: DirectStream) => {
  const { breakOff, options } = socketOptions(
    stream,
    () => socket,
    () => broken
  )
  const socket: Duplex = new Duplex({ writableHighWaterMark, ...options })
  const end = (): void => {
    // Pending operations may still fail, without a waiter
    socket.on("error", () => undefined)
    socket.destroy()
    // Node calls the writes behind it back with it
    breakOff(broken)
  }
  return { socket, end }
}

/** A stream of the server as Node's servers take it. It is destroyed when the scope closes. */
export const streamSocket = ({ direct }: ByteStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => socketOf(direct)),
      ({ end }) => Effect.sync(end)
    ),
    ({ socket }) => socket
  )

/** Gives a stream to an HTTP server as one of its connections. Completes when the connection has closed. */
export const serveStream = (server: Server, stream: ByteStream): Effect.Effect<void> =>
  Effect.gen(function* () {
    const socket = yield* streamSocket(stream)
    yield* Effect.async<void>((resume) => {
      socket.once("close", () => resume(Effect.void))
      server.emit("connection", socket)
    })
  }).pipe(Effect.scoped)
