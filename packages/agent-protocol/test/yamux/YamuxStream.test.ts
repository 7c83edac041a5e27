import { Effect, Fiber, Option, Scheduler } from "effect"
import { describe, expect, it } from "vitest"
import { type StreamHost, YamuxStream } from "../../src/yamux/YamuxStream.js"
import { Outbox } from "../../src/yamux/Outbox.js"

const text = (value: string) => new TextEncoder().encode(value)

const host = (): StreamHost => ({
  outbox: new Outbox(),
  send: () => undefined,
  sendData: () => undefined,
  now: () => 0,
  hold: () => true,
  widen: () => true,
  forget: () => undefined,
  settled: () => undefined
})

/** A scheduler by which a fiber yields once, at the operation of this number. It calls `between` then. */
const yieldingAt = (operation: number, between: () => void): Scheduler.Scheduler => {
  let operations = 0
  return {
    shouldYield: () => {
      if (operations++ !== operation) return false
      between()
      return 0
    },
    scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority)
  }
}

describe("a reader", () => {
  it("gets what arrives while it lets others run, at whichever of its operations", async () => {
    const reads: Array<string> = []
    // It takes fewer operations than that until it waits
    for (let operation = 0; operation < 20; operation++) {
      const stream = new YamuxStream(1, host(), false)
      let hasArrived = false
      const arrive = (): void => {
        hasArrived = true
        stream.receive(text("hello"))
      }
      const reader = Effect.runFork(stream.read, { scheduler: yieldingAt(operation, arrive) })
      if (!hasArrived) arrive()
      const bytes = await Effect.runPromise(Fiber.join(reader).pipe(Effect.timeout("2 seconds"), Effect.option))
      reads.push(new TextDecoder().decode(Option.getOrUndefined(Option.flatten(bytes))))
    }
    expect(reads).toStrictEqual(Array.from({ length: 20 }, () => "hello"))
  })
})
