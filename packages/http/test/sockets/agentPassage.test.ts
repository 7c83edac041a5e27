import { Loans } from "@atelier/agent-protocol"
import { AgentUnreachable } from "@atelier/core/network"
import { Effect, Fiber, Option, Stream } from "effect"
import { Socket } from "node:net"
import { expect, it } from "vitest"
import { givesBackFrom } from "../../src/server/connection/LentBody.js"
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
  const givesBack = givesBackFrom(new Socket())
  const passing = Effect.runFork(passage({ givesBack, incoming: Stream.never, send: () => isSent.await }, stream))
  await Effect.runPromise(Effect.yieldNow())
  const during = Loans.take()
  expect(during?.buffer).not.toBe(slab.buffer)
  isSent.unsafeOpen()
  await Effect.runPromise(Fiber.join(passing))
  const after = Loans.take()
  expect(after?.buffer).toBe(slab.buffer)
  for (const bytes of [during, after]) if (bytes !== undefined) Loans.lend(bytes, 0)
})

it("leaves lent memory to a connection of the host that may keep it", async () => {
  const slab = Loans.take()
  if (slab === undefined) return expect.unreachable()
  Loans.lend(slab, 1_000)
  const replaced = new Socket()
  const { write } = replaced
  replaced.write = write.bind(replaced)
  const socket = { givesBack: givesBackFrom(replaced), incoming: Stream.never, send: () => Effect.void }
  await Effect.runPromise(passage(socket, anAgentStream([slab.subarray(0, 1_000)])))
  const after = Loans.take()
  expect(after?.buffer).not.toBe(slab.buffer)
  if (after !== undefined) Loans.lend(after, 0)
})

it("closes with the reason for which the stream is broken off", async () => {
  const read = Effect.fail(new AgentUnreachable({ message: "The agent is gone." }))
  const passing = passage({ givesBack: () => undefined, incoming: Stream.never, send: () => Effect.void }, { ...anAgentStream([]), read })
  expect(await Effect.runPromise(Effect.flip(passing))).toStrictEqual(new CloseSocket({ code: 1011, reason: "The agent is gone." }))
})
