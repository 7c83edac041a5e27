/** Bytes of an agent's stream and of a client's connection, as each gets those of the other. */
import { Loans } from "@atelier/agent-protocol"
import { type AgentStream, AgentUnreachable, type DirectStream } from "@atelier/core/network"
import { Effect, Exit, Option } from "effect"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, expect, it, vi } from "vitest"
import { beginPassage } from "../../src/sockets/agentPassage.js"
import { CloseSocket, SocketClosed } from "../../src/sockets/closing.js"
import type { Connection } from "../../src/sockets/Connection.js"

afterEach(() => void vi.useRealTimers())

/** A stream of an agent that sends what the test says, and takes what it is sent when the test says so. */
const anAgent = () => {
  const sent: Array<Uint8Array | null | Error> = []
  const received: Array<string> = []
  const waiting: Array<() => void> = []
  let ready = (): void => undefined
  const direct: DirectStream = {
    take: (next) => {
      ready = next
      return sent.shift()
    },
    put: (bytes, done) => {
      waiting.push(() => {
        received.push(Buffer.from(bytes).toString())
        done()
      })
    },
    finish: () => undefined
  }
  const stream: AgentStream = { read: Effect.succeedNone, write: () => Effect.void, finish: Effect.void, direct }
  const send = (...pieces: typeof sent): void => {
    sent.push(...pieces)
    ready()
  }
  return { received, send, stream, takeNext: () => waiting.shift()?.() }
}

/** A connection of a client, which takes what it is sent when the test says so. */
const aClient = () => {
  const written: Array<string> = []
  const unsent: Array<(error?: SocketClosed) => void> = []
  const ends: Array<Exit.Exit<void, unknown>> = []
  let take: (message: string | Uint8Array) => void = () => undefined
  let close: (exit: Exit.Exit<void, SocketClosed>) => void = () => undefined
  const connection: Connection = {
    write: (pieces, done) => {
      written.push(Buffer.concat(pieces).toString())
      unsent.push(done)
    },
    listen: (taking, closing) => {
      take = taking
      close = closing
    },
    end: (exit) => void ends.push(exit),
    pause: () => undefined,
    send: () => Effect.void,
    get messages(): Connection["messages"] {
      return expect.unreachable()
    }
  }
  return {
    connection,
    ends,
    written,
    leave: () => unsent.shift()?.(),
    send: (message: string | Uint8Array) => take(message),
    close: (exit: Exit.Exit<void, SocketClosed>) => close(exit)
  }
}

const begin = ({ connection }: ReturnType<typeof aClient>, stream: AgentStream) =>
  Effect.runSync(Effect.scoped(beginPassage(connection, stream)))

it("gives lent memory back once the client has been sent its bytes", async () => {
  const slab = Loans.take()
  if (slab === undefined) return expect.unreachable()
  Loans.lend(slab, 1_000)
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  agent.send(slab.subarray(0, 1_000))
  await nextTurn()
  expect(client.written).toHaveLength(1)
  const during = Loans.take()
  expect(during?.buffer).not.toBe(slab.buffer)
  client.leave()
  const after = Loans.take()
  expect(after?.buffer).toBe(slab.buffer)
  for (const bytes of [during, after]) if (bytes !== undefined) Loans.lend(bytes, 0)
})

it("ends properly once all that the agent has sent before its end has left", async () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  agent.send(Buffer.from("output"), null)
  await nextTurn()
  expect(client).toMatchObject({ ends: [], written: ["output"] })
  client.leave()
  expect(client.ends).toStrictEqual([Exit.void])
})

it("ends at once with an agent that has nothing to send", () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  agent.send(null)
  expect(client.ends).toStrictEqual([Exit.void])
})

it("closes with the reason for which the stream is broken off", () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  agent.send(new AgentUnreachable({ message: "The agent is gone." }))
  expect(client.ends).toStrictEqual([Exit.fail(new CloseSocket({ code: 1011, reason: "The agent is gone." }))])
})

it("gives the agent all that the client has sent before its close", () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  client.send(Buffer.from("first"))
  client.send(Buffer.from("second"))
  client.close(Exit.void)
  agent.takeNext()
  expect(client.ends).toStrictEqual([])
  agent.takeNext()
  expect(agent.received).toStrictEqual(["first", "second"])
  expect(client.ends).toStrictEqual([Exit.void])
})

it("ends with the failure of a client that is cut off", () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  const cut = Exit.fail(new SocketClosed({ code: 1006, reason: "" }))
  client.close(cut)
  expect(client.ends).toStrictEqual([cut])
})

it("closes with 1003 on a text message", () => {
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  client.send("text")
  expect(client.ends[0]).toStrictEqual(Exit.fail(new CloseSocket({ code: 1003, reason: "This socket takes binary messages." })))
})

it("breaks off a client that accepts nothing for a minute while the agent has more", () => {
  vi.useFakeTimers()
  const [agent, client] = [anAgent(), aClient()]
  begin(client, agent.stream)
  agent.send(Buffer.alloc(512 * 1024), Buffer.from("more"))
  vi.advanceTimersByTime(60_000)
  expect(client.ends).toStrictEqual([Exit.fail(new CloseSocket({ code: 1011, reason: "The client takes too long to receive." }))])
})

it("passes on the bytes of a stream that has effects alone", async () => {
  const pieces = [Buffer.from("output")]
  const stream: AgentStream = {
    read: Effect.sync(() => Option.fromNullable(pieces.shift())),
    write: () => Effect.void,
    finish: Effect.void
  }
  const client = aClient()
  const passing = Effect.runFork(Effect.scoped(Effect.zipRight(beginPassage(client.connection, stream), Effect.never)))
  await vi.waitFor(() => expect(client.written).toStrictEqual(["output"]))
  client.leave()
  await vi.waitFor(() => expect(client.ends).toStrictEqual([Exit.void]))
  passing.unsafeInterruptAsFork(passing.id())
})
