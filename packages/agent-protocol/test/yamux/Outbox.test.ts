import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { Session } from "@atelier/agent-protocol"
import { Outbox } from "../../src/yamux/Outbox.js"
import { transportPair } from "../transportPair.js"

const payload = 64 * 1024

/** All fibers have run until they wait. */
const settled = Effect.repeatN(Effect.yieldNow(), 100)

describe("streams that wait for room", () => {
  it("get it one after the other, in their order", () => {
    const outbox = new Outbox()
    for (let count = 0; count < 9; count++) outbox.add({ head: new Uint8Array(payload) })
    const woken: Array<number> = []
    for (const index of [0, 1, 2, 3]) outbox.whenRoom(() => void woken.push(index))
    const take = () => outbox.take(() => undefined)
    take()
    // Five payloads are left: there is no room yet
    expect(woken).toStrictEqual([])
    take()
    expect(woken).toStrictEqual([0])
    outbox.passOn()
    expect(woken).toStrictEqual([0, 1])
    outbox.end()
    expect(woken).toStrictEqual([0, 1, 2, 3])
  })

  it.each(["with room", "at the end"])("go on in their order, however many wait: %s", (when) => {
    const outbox = new Outbox()
    const count = 50_000
    const woken: Array<number> = []
    for (let count = 0; count < 5; count++) outbox.add({ head: new Uint8Array(payload) })
    for (let index = 0; index < count; index++) {
      outbox.whenRoom(() => {
        woken.push(index)
        outbox.passOn()
      })
    }
    if (when === "at the end") outbox.end()
    else while (outbox.take(() => undefined) !== undefined);
    expect(woken).toStrictEqual(Array.from({ length: count }, (_, index) => index))
  })

  it("all go on if one of them ends the outbox", () => {
    const outbox = new Outbox()
    for (let count = 0; count < 5; count++) outbox.add({ head: new Uint8Array(payload) })
    const woken: Array<number> = []
    for (const index of [0, 1, 2]) {
      outbox.whenRoom(() => {
        woken.push(index)
        if (index === 0) outbox.end()
      })
    }
    while (outbox.take(() => undefined) !== undefined);
    expect(woken).toStrictEqual([0, 1, 2])
  })

  it("are told when their bytes have been sent, and an empty outbox when there is a frame", () => {
    const outbox = new Outbox()
    let filled = 0
    const take = () => outbox.take(() => void filled++)
    expect(take()).toBeUndefined()
    const left: Array<string> = []
    outbox.add({ head: new Uint8Array(1), payload: new Uint8Array(2), sent: () => void left.push("first") })
    outbox.add({ head: new Uint8Array(3), sent: () => void left.push("second") })
    expect(filled).toBe(1)
    const batch = take()
    expect(batch?.pieces.map(({ length }) => length)).toStrictEqual([1, 2, 3])
    expect(left).toStrictEqual([])
    batch?.sent()
    expect(left).toStrictEqual(["first", "second"])
  })

  it.scoped("send all of their bytes also while others go or wait for their windows", () =>
    Effect.gen(function* () {
      const [near, far] = yield* transportPair
      const gate = yield* Effect.makeLatch(false)
      const client = yield* Session.make({ ...near, send: (bytes) => Effect.zipRight(gate.await, near.send(bytes)) }, { role: "client" })
      const server = yield* Session.make(far, { role: "server" })
      const bytes = new Uint8Array(3 * payload)
      const streams = yield* Effect.replicateEffect(client.open, 24)
      // Every third stream has more bytes than its window lets through
      const writes = yield* Effect.forEach(streams, (stream, index) =>
        Effect.fork(Effect.zipRight(stream.write(index % 3 === 2 ? new Uint8Array(6 * payload) : bytes), stream.finish))
      )
      yield* Effect.yieldNow()
      for (const [index, write] of writes.entries()) if (index % 3 === 0) yield* Fiber.interruptFork(write)
      yield* gate.open
      const lengths = yield* Effect.forEach(
        streams,
        (_, index) =>
          Effect.gen(function* () {
            const stream = yield* server.accept
            if (index % 3 === 0) return 0
            let length = 0
            for (let read = yield* stream.read; Option.isSome(read); read = yield* stream.read) length += read.value.length
            return length
          }),
        { concurrency: "unbounded" }
      )
      expect(lengths).toStrictEqual(streams.map((_, index) => [0, 3 * payload, 6 * payload][index % 3]))
    })
  )

  it.scoped("send little in few payloads", () =>
    Effect.gen(function* () {
      const [near, far] = yield* transportPair
      const gate = yield* Effect.makeLatch(true)
      let payloads = 0
      const send = (bytes: Uint8Array) =>
        Effect.zipRight(
          gate.await,
          Effect.tap(near.send(bytes), () => void payloads++)
        )
      const client = yield* Session.make({ ...near, send }, { role: "client" })
      const server = yield* Session.make(far, { role: "server" })
      const streams = yield* Effect.replicateEffect(client.open, 64)
      const accepted = yield* Effect.replicateEffect(server.accept, 64)
      yield* gate.close
      // One payload is on its way, and four fill the room
      const large = streams.slice(0, 2)
      yield* Effect.forEach(large, (stream) => Effect.fork(stream.write(new Uint8Array(4 * payload))))
      yield* settled
      yield* Effect.forEach(streams.slice(2), (stream) => Effect.fork(Effect.zipRight(stream.write(new Uint8Array(10)), stream.finish)))
      yield* settled
      payloads = 0
      yield* gate.open
      yield* Effect.forEach(accepted.slice(2), (stream) => stream.read)
      expect(payloads).toBeLessThan(20)
    })
  )
})
