import type { ByteStream, DirectStream } from "@atelier/agent-protocol"
import { Effect, type Scope } from "effect"
import type { Server } from "node:http"
import { Duplex } from "node:stream"

const broken = new Error("the stream was broken off")

/** Bytes that wait in a socket to be sent: enough that the next piece of a file is read meanwhile. */
const writableHighWaterMark = 256 * 1024

type Done = (error?: Error | null) => void

/** A stream as a socket. A write is called back once its bytes have left, so that its writer may use their memory again. */
const socketOf = ({ finish, put, take }: DirectStream) => {
  let unsent: Done | undefined
  const send = (chunks: ReadonlyArray<Uint8Array>, done: Done): void => {
    unsent = done
    const over = (error: Error | null): void => {
      if (unsent !== done) return
      unsent = undefined
      done(error)
    }
    let at = 0
    // A loop: a client may cause thousands of chunks in one call, too many for calls within calls
    const go = (): void => {
      for (let chunk = chunks[at]; chunk !== undefined; chunk = chunks[at]) {
        at += 1
        let isAtOnce = true
        let isTaken = false
        const taken = (error?: Error): void => {
          if (error !== undefined) return over(broken)
          isTaken = true
          if (!isAtOnce) go()
        }
        put(chunk, taken, at === chunks.length ? () => over(null) : undefined)
        isAtOnce = false
        if (!isTaken) return
      }
    }
    go()
  }
  const read = (): void => {
    while (!socket.destroyed) {
      const bytes = take(read)
      if (bytes === undefined) return
      if (bytes instanceof Error) return void socket.destroy(broken)
      if (!socket.push(bytes)) return
    }
  }
  const socket = new Duplex({
    writableHighWaterMark,
    read,
    write: (chunk: Uint8Array, _encoding, done) => send([chunk], done),
    writev: (chunks, done) =>
      send(
        chunks.map(({ chunk }): Uint8Array => chunk),
        done
      ),
    final: (done) => {
      finish()
      done()
    }
  })
  const end = (): void => {
    // Pending operations may still fail, without a waiter
    socket.on("error", () => undefined)
    socket.destroy()
    // Node calls the writes behind it back with it
    unsent?.(broken)
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
