/** A stream to an agent as Node's own clients take it. */
import type { AgentStream, AgentUnreachable } from "@atelier/core/network"
import { Cause, Effect, Exit, Option, Runtime, type Scope } from "effect"
import { Duplex } from "node:stream"

const errorOf = (cause: Cause.Cause<AgentUnreachable>): Error =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => new Error("the stream was broken off"),
    onSome: ({ message }) => new Error(message)
  })

/** The stream as a socket, which is destroyed when the scope closes. */
export const agentSocket = ({ finish, read, write }: AgentStream): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.runtime(), (runtime) => {
      const run = Runtime.runCallback(runtime)
      return new Duplex({
        read() {
          run(read, {
            onExit: (exit) => {
              if (Exit.isSuccess(exit)) this.push(Option.getOrNull(exit.value))
              else this.destroy(errorOf(exit.cause))
            }
          })
        },
        write(chunk: Uint8Array, _encoding, done) {
          run(write(chunk), { onExit: (exit) => done(Exit.isSuccess(exit) ? null : errorOf(exit.cause)) })
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
