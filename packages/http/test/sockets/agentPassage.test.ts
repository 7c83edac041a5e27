import { Loans } from "@atelier/agent-protocol"
import { AgentUnreachable } from "@atelier/core/network"
import { Effect, Fiber, Option, Stream } from "effect"
import { expect, it } from "vitest"
import { passage } from "../../src/sockets/agentPassage.js"
import { CloseSocket } from "../../src/sockets/closing.js"

/** A stream of an agent that sends these pieces and then ends. */
const anAgentStream = (pieces: Array<Uint8Array>) => ({
  read: Effect.sync(() => Option.fromNullable(pieces.shift())),
  write: () => Effect.void,
  finish: Effect.void
})

it("gives lent memory back once the client has been sent its bytes", async () => {
  const slab = Loans.take()
  if (slab === undefined) return expect.unreachable()
  Loans.lend(slab, 1_000)
  const isSent = Effect.unsafeMakeLatch()
  const stream = anAgentStream([slab.subarray(0, 1_000)])
  const passing = Effect.runFork(passage({ incoming: Stream.never, send: () => isSent.await }, stream))
  await Effect.runPromise(Effect.yieldNow())
  const during = Loans.take()
  expect(during?.buffer).not.toBe(slab.buffer)
  isSent.unsafeOpen()
  await Effect.runPromise(Fiber.join(passing))
  const after = Loans.take()
  expect(after?.buffer).toBe(slab.buffer)
  for (const bytes of [during, after]) if (bytes !== undefined) Loans.lend(bytes, 0)
})

it("closes with the reason for which the stream is broken off", async () => {
  const read = Effect.fail(new AgentUnreachable({ message: "The agent is gone." }))
  const passing = passage({ incoming: Stream.never, send: () => Effect.void }, { ...anAgentStream([]), read })
  expect(await Effect.runPromise(Effect.flip(passing))).toStrictEqual(new CloseSocket({ code: 1011, reason: "The agent is gone." }))
})
