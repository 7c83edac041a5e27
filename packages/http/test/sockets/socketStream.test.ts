/** Writes to a stream that a WebSocket carries, as its connection gets them. */
import { Loans } from "@atelier/agent-protocol"
import { AgentUnreachable } from "@atelier/core/network"
import { EventEmitter } from "node:events"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { WebSocket } from "ws"
import { SocketClosed } from "../../src/sockets/closing.js"
import { type Connection, open } from "../../src/sockets/Connection.js"
import { passOn, socketStream } from "../../src/sockets/socketStream.js"

afterEach(() => void vi.useRealTimers())

const terms = { onText: () => null, silent: new AgentUnreachable({ message: "silent" }) }

/** A connection that notes writes, which leave when the test says so. */
const aConnection = () => {
  const written: Array<string> = []
  const unsent: Array<(error?: SocketClosed) => void> = []
  let refusal: SocketClosed | undefined
  const stream = socketStream(
    {
      write: (pieces, done) => {
        if (refusal !== undefined) return done(refusal)
        written.push(pieces.map((piece) => (piece.length > 100 ? String(piece.length) : Buffer.from(piece).toString())).join("+"))
        unsent.push(done)
      },
      listen: () => undefined,
      pause: () => undefined
    },
    terms
  )
  return { ...stream, written, leave: (error?: SocketClosed) => unsent.shift()?.(error), refuse: (why: SocketClosed) => (refusal = why) }
}

const ignore = (): void => undefined

/** A WebSocket of the library, as far as connections use it. */
class FakeSocket extends EventEmitter {
  isPaused = true
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
}

it("a socket that has brought too much before its reader came stays paused", () => {
  const webSocket = new FakeSocket()
  // The library's class has many more methods
  const connection = open(webSocket as unknown as WebSocket, {}, ignore)
  while (!webSocket.isPaused) webSocket.emit("message", Buffer.alloc(65_000), true)
  const { direct, receive } = socketStream(connection, terms)
  receive(ignore)
  expect(webSocket.isPaused).toBe(true)
  while (direct.take(ignore) !== undefined);
  expect(webSocket.isPaused).toBe(false)
})

describe("a stream that a WebSocket carries", () => {
  it("sends the writes of one turn together", async () => {
    const { direct, written } = aConnection()
    direct.put(Buffer.from("a"), ignore)
    direct.put(Buffer.from("b"), ignore)
    expect(written).toStrictEqual([])
    await nextTurn()
    expect(written).toStrictEqual(["a+b"])
  })

  it("gathers writes until the bytes before have left", async () => {
    const { direct, leave, written } = aConnection()
    direct.put(Buffer.from("a"), ignore)
    await nextTurn()
    direct.put(Buffer.from("b"), ignore)
    await nextTurn()
    direct.put(Buffer.from("c"), ignore)
    await nextTurn()
    expect(written).toStrictEqual(["a"])
    leave()
    expect(written).toStrictEqual(["a", "b+c"])
  })

  it("sends all bytes at once at their end", async () => {
    const { direct, written } = aConnection()
    direct.put(Buffer.from("a"), ignore)
    await nextTurn()
    direct.put(Buffer.from("b"), ignore)
    direct.finish()
    await nextTurn()
    expect(written).toStrictEqual(["a", "b"])
  })

  it("has the writer wait while 256 KiB have not left", async () => {
    const { direct, leave, written } = aConnection()
    const taken: Array<number> = []
    direct.put(new Uint8Array(200_000), () => void taken.push(1))
    direct.put(new Uint8Array(100_000), () => void taken.push(2))
    await nextTurn()
    expect([written, taken]).toStrictEqual([["200000"], [1]])
    leave()
    expect([written, taken]).toStrictEqual([
      ["200000", "100000"],
      [1, 2]
    ])
  })

  it("has the writer wait, and the other side, also while many tiny pieces wait", () => {
    const { direct } = aConnection()
    let [pieces, isTaken] = [0, true]
    while (isTaken && pieces < 100_000) {
      isTaken = false
      direct.put(new Uint8Array(1), () => (isTaken = true))
      pieces++
    }
    expect(pieces).toBeLessThan(5_000)
    let arrived = 0
    const reader = { isPaused: false }
    const listen: Connection["listen"] = (take) => {
      while (!reader.isPaused && arrived++ < 100_000) take(new Uint8Array(1))
    }
    const { receive } = socketStream({ write: ignore, pause: (isPaused) => void Object.assign(reader, { isPaused }), listen }, terms)
    receive(ignore)
    expect(arrived).toBeLessThan(20_000)
  })

  it("makes messages of at most 256 KiB", () => {
    const { direct, written } = aConnection()
    direct.put(new Uint8Array(600_000), ignore)
    expect(written).toStrictEqual(["262144+262144+75712"])
  })

  it("tells a writer why its bytes have not left", async () => {
    const { direct, leave } = aConnection()
    const told: Array<string | undefined> = []
    const note = (error?: Error): void => void told.push(error?.message)
    direct.put(new Uint8Array(300_000), note)
    leave(new SocketClosed({ code: 1006, reason: "gone" }))
    direct.put(Buffer.from("a"), note)
    expect(told).toStrictEqual([expect.stringContaining("1006"), expect.stringContaining("1006")])
  })

  it("tells a writer at once that the connection is closed", () => {
    vi.useFakeTimers()
    const { direct, leave, refuse } = aConnection()
    refuse(new SocketClosed({ code: 1006, reason: "gone" }))
    let told: Error | undefined
    direct.put(new Uint8Array(300_000), (error) => (told = error))
    expect(told?.message).toContain("1006")
    expect(vi.getTimerCount()).toBe(0)
    leave()
  })

  it("goes on for the next writer where one that waited was interrupted", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const { direct, leave } = aConnection()
    direct.put(new Uint8Array(300_000), ignore)
    await nextTurn()
    const second = new Promise((resolve) => direct.put(Buffer.from("a"), resolve))
    await nextTurn()
    leave()
    expect(await second).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it("breaks off where the other process takes nothing for a minute", () => {
    vi.useFakeTimers()
    const { direct } = aConnection()
    let told: Error | undefined
    direct.put(new Uint8Array(300_000), (error) => (told = error))
    vi.advanceTimersByTime(59_000)
    expect(told).toBeUndefined()
    vi.advanceTimersByTime(1_000)
    expect(told).toBeInstanceOf(AgentUnreachable)
  })

  it("gives lent memory back once its bytes have left", async () => {
    const { direct, leave } = aConnection()
    const slab = Loans.take()
    if (slab === undefined) return expect.unreachable()
    Loans.lend(slab, 1_000)
    const pieces = [slab.subarray(0, 1_000)]
    const source = { take: () => pieces.shift(), put: ignore, finish: ignore }
    passOn(source, direct, () => expect.unreachable())
    await nextTurn()
    const during = Loans.take()
    expect(during?.buffer).not.toBe(slab.buffer)
    leave()
    const after = Loans.take()
    expect(after?.buffer).toBe(slab.buffer)
    for (const bytes of [during, after]) if (bytes !== undefined) Loans.lend(bytes, 0)
  })
})
