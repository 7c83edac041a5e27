import type { ByteStream } from "@atelier/agent-protocol"
import { Effect, Exit, Option, Runtime, type Scope } from "effect"
import type { Server } from "node:http"
import { Duplex } from "node:stream"

const broken = new Error("the stream was broken off")

/** A stream of the server as Node's HTTP server takes it. It is destroyed when the scope closes. */
const streamSocket = ({ finish, read, write }: ByteStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.runtime(), (runtime) => {
      const run = Runtime.runCallback(runtime)
      return new Duplex({
        read() {
          run(read, {
            onExit: (exit) => {
              if (Exit.isSuccess(exit)) this.push(Option.getOrNull(exit.value))
              else this.destroy(broken)
            }
          })
        },
        write(chunk: Uint8Array, _encoding, done) {
          run(write(chunk), { onExit: (exit) => done(Exit.isSuccess(exit) ? null : broken) })
        },
        final(done) {
          run(finish, { onExit: () => done() })
        }
      })
    }),
    (socket) =>
      Effect.sync(() => {
        // Pending operations may still fail, without a waiter
        socket.on("error", () => undefined)
        socket.destroy()
      })
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
