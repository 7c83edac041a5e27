import { type AgentStream, AgentUnreachable } from "@atelier/core/network"
import { Effect, Exit, Mailbox, Option, type Scope } from "effect"

/** An end of a stream within the process. */
export interface StreamEnd extends AgentStream {
  /** Ends the stream for the other end, with the failure if there is one. To the other end, an interruption is a failure. */
  readonly close: (exit: Exit.Exit<unknown, AgentUnreachable>) => Effect.Effect<void>
}

const over = new AgentUnreachable({ message: "The stream was interrupted." })

/** Messages that wait for their reader. */
const capacity = 16

/** The two ends of a stream within the process, until the scope closes. */
export const streamPair: Effect.Effect<readonly [StreamEnd, StreamEnd], never, Scope.Scope> = Effect.gen(function* () {
  const make = Effect.acquireRelease(Mailbox.make<Uint8Array, AgentUnreachable>({ capacity }), (mailbox) => mailbox.fail(over))
  const [there, back] = yield* Effect.all([make, make])
  const endOf = (incoming: typeof there, outgoing: typeof there): StreamEnd => ({
    read: Effect.matchEffect(incoming.take, {
      onFailure: (error) => (error._tag === "AgentUnreachable" ? error : Effect.succeedNone),
      onSuccess: (bytes) => Effect.succeed(Option.some(bytes))
    }),
    write: (bytes) => Effect.flatMap(outgoing.offer(bytes), (isTaken) => (isTaken ? Effect.void : over)),
    finish: Effect.asVoid(outgoing.end),
    close: (exit) => Effect.asVoid(outgoing.done(Exit.isInterrupted(exit) ? Exit.fail(over) : Exit.asVoid(exit)))
  })
  return [endOf(back, there), endOf(there, back)]
})
