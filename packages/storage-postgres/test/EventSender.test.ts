import { expect, it } from "@effect/vitest"
import { Array as Arr, Effect, Exit, Logger, Scope, TestClock } from "effect"
import { lost, makeEventSender } from "../src/EventSender.js"

/** A sender of a scope, what it has told, and a switch that holds what it tells. */
const sender = Effect.gen(function* () {
  const attempts: Array<ReadonlyArray<string>> = []
  const told: Array<ReadonlyArray<string>> = []
  const mayTell = yield* Effect.makeLatch(true)
  const state = { fails: false }
  const scope = yield* Scope.make()
  const tell = (events: ReadonlyArray<string>) =>
    Effect.zipRight(
      Effect.uninterruptible(
        Effect.suspend(() => {
          attempts.push(events)
          return mayTell.await
        })
      ),
      Effect.suspend(() => {
        if (state.fails) return Effect.fail("no store" as const)
        told.push(events)
        return Effect.void
      })
    )
  const send = yield* Scope.extend(makeEventSender(tell), scope)
  return { attempts, close: Scope.close(scope, Exit.void), mayTell, send, state, told }
})

/** Lets the sender's fibers run. */
const settle = TestClock.adjust(0)

it.effect("an event that is sent right before the end of the scope is told", () =>
  Effect.gen(function* () {
    const { close, send, told } = yield* sender
    yield* settle
    send("a")
    yield* close
    expect(told).toStrictEqual([["a"]])
    send("b")
    expect(told).toHaveLength(1)
  })
)

it.effect("events that arrive during a statement go with the next one, equal ones once", () =>
  Effect.gen(function* () {
    const { close, mayTell, send, told } = yield* sender
    mayTell.unsafeClose()
    send("first")
    yield* settle
    for (const event of ["connected", "ended", "connected", "first"]) send(event)
    mayTell.unsafeOpen()
    yield* close
    expect(told).toStrictEqual([["first"], ["ended", "connected", "first"]])
  })
)

it.effect("more events than may wait are lost, which is told instead", () =>
  Effect.gen(function* () {
    const { close, mayTell, send, told } = yield* sender
    mayTell.unsafeClose()
    send("first")
    yield* settle
    for (const event of Arr.makeBy(1_000, String)) send(event)
    // It waits already
    send("7")
    mayTell.unsafeOpen()
    yield* settle
    expect(told.flat()).toStrictEqual(["first", ...Arr.makeBy(1_000, String).filter((event) => event !== "7"), "7"])
    mayTell.unsafeClose()
    send("second")
    yield* settle
    for (const event of Arr.makeBy(1_002, String)) send(event)
    mayTell.unsafeOpen()
    yield* close
    expect(told.slice(-2)).toStrictEqual([["second"], [lost, "1001"]])
  })
)

it.effect("events that cannot be told are lost, which the sender tells as soon as it can", () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String([message].flat()[0])))
  return Effect.gen(function* () {
    const { close, send, state, told } = yield* sender
    state.fails = true
    send("a")
    yield* TestClock.adjust("3 seconds")
    state.fails = false
    send("b")
    yield* TestClock.adjust("1 second")
    yield* close
    expect(told).toStrictEqual([[lost, "b"]])
    expect(lines).toStrictEqual(["other processes cannot be told of events now", "other processes are told of events again"])
  }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
})

it.effect("what fails while the scope closes is told if it can be in a second", () =>
  Effect.gen(function* () {
    const { close, send, state, told } = yield* sender
    state.fails = true
    send("a")
    yield* settle
    const closed = yield* Effect.fork(close)
    yield* TestClock.adjust("500 millis")
    state.fails = false
    yield* TestClock.adjust("100 millis")
    yield* closed
    expect(told).toStrictEqual([[lost]])
  })
)

it.effect("a statement without an answer delays the end of the scope by a second", () =>
  Effect.gen(function* () {
    const { attempts, close, mayTell, send } = yield* sender
    mayTell.unsafeClose()
    send("silent")
    yield* settle
    send("later")
    yield* TestClock.adjust("1 hour")
    const closed = yield* Effect.fork(close)
    yield* TestClock.adjust("1 second")
    yield* closed
    expect(attempts).toStrictEqual([["silent"]])
  })
)
