import { type Transport, TransportError } from "@atelier/agent-protocol"
import { Effect, Mailbox, Stream } from "effect"

/** Chunks in flight in each direction of an in-memory pair. */
const pairCapacity = 16

/** Two connected ends in memory. Either end's `close` ends both directions; what was sent before still arrives. */
export const transportPair: Effect.Effect<readonly [Transport, Transport]> = Effect.gen(function* () {
  const there = yield* Mailbox.make<Uint8Array>(pairCapacity)
  const back = yield* Mailbox.make<Uint8Array>(pairCapacity)
  const end = (inbox: Mailbox.Mailbox<Uint8Array>, outbox: Mailbox.Mailbox<Uint8Array>): Transport => ({
    receive: (take) => Stream.runForEach(Mailbox.toStream(inbox), (bytes) => Effect.sync(() => take(bytes))),
    send: (bytes) =>
      Effect.flatMap(outbox.offer(bytes), (offered) => (offered ? Effect.void : Effect.fail(new TransportError({ cause: "closed" })))),
    close: () => Effect.zipRight(there.end, Effect.asVoid(back.end))
  })
  return [end(back, there), end(there, back)] as const
})
