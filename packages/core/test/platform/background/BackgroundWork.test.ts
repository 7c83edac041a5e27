import { expect, it } from "@effect/vitest"
import { Chunk, Context, Effect, Layer, TestClock } from "effect"
import * as Background from "../../../src/platform/background/Background.js"
import { BackgroundWork, knownWork, startSigns, startUnlessManual } from "../../../src/platform/background/BackgroundWork.js"
import { nextTurn } from "../../../src/platform/background/Turns.js"
import * as Worker from "../../../src/platform/background/Worker.js"
import { Locks } from "../../../src/platform/store/Locks.js"

const locks = Context.make(Locks, { tryWith: (_, effect) => Effect.asSome(effect) })

/** Counts runs. */
const counting = () => {
  let runs = 0
  return { run: Effect.sync(() => void runs++), runs: () => runs }
}

const program = (mode: "automatic" | "manual") => Layer.succeedContext(Context.merge(locks, knownWork(mode)))

const ask = (...names: ReadonlyArray<string>) => Effect.flatMap(BackgroundWork, ({ run }) => run(...names))

it.scoped("a manual program runs a worker when it asks for it alone", () =>
  Effect.gen(function* () {
    const counted = counting()
    yield* Worker.start({ name: "counting", every: "1 minute", run: counted.run })
    yield* TestClock.adjust("1 hour")
    expect(counted.runs()).toBe(0)
    yield* ask("counting", "counting")
    expect(counted.runs()).toBe(2)
    expect(Chunk.size(yield* TestClock.sleeps())).toBe(0)
  }).pipe(Effect.provide(program("manual")))
)

it.scoped("an automatic program runs a worker at its times, and when it asks for it", () =>
  Effect.gen(function* () {
    const counted = counting()
    yield* Worker.start({ name: "counting", every: "1 minute", run: counted.run })
    yield* TestClock.adjust("150 seconds")
    expect(counted.runs()).toBe(3)
    yield* ask("counting")
    expect(counted.runs()).toBe(4)
  }).pipe(Effect.provide(program("automatic")))
)

it.scoped("a loop of a manual program goes on by events and not by time", () =>
  Effect.gen(function* () {
    const counted = counting()
    const latch = yield* Effect.makeLatch()
    const event = Effect.zipRight(latch.await, latch.close)
    yield* Background.repeat("loop", Effect.zipRight(Effect.raceFirst(event, Effect.sleep("1 minute")), counted.run))
    yield* TestClock.adjust("1 hour")
    expect(counted.runs()).toBe(0)
    yield* latch.open
    yield* TestClock.adjust(0)
    expect(counted.runs()).toBe(1)
  }).pipe(Effect.provide(program("manual")))
)

it.scoped("a loop of a manual program lets other work have its turn, and goes on", () =>
  Effect.gen(function* () {
    const counted = counting()
    const latch = yield* Effect.makeLatch(true)
    yield* Background.repeat(
      "loop",
      latch.await.pipe(Effect.zipRight(latch.close), Effect.zipRight(nextTurn), Effect.zipRight(counted.run))
    )
    yield* TestClock.adjust(0)
    yield* latch.open
    yield* TestClock.adjust(0)
    expect(counted.runs()).toBe(2)
  }).pipe(Effect.provide(program("manual")))
)

it.scoped("a sign of life comes before each run of a manual program", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    yield* startSigns(
      "sign",
      Effect.sync(() => order.push("sign")),
      Effect.dieMessage("is automatic")
    )
    yield* startUnlessManual(
      "work",
      Effect.sync(() => order.push("work")),
      Effect.dieMessage("is automatic")
    )
    yield* ask("work")
    expect(order).toStrictEqual(["sign", "work"])
  }).pipe(Effect.provide(program("manual")))
)

it.scoped("a run dies for its caller, and unknown work is named", () =>
  Effect.gen(function* () {
    yield* Worker.start({ name: "broken", every: "1 minute", run: Effect.dieMessage("the disk is gone") })
    expect(String(yield* Effect.exit(ask("broken")))).toContain("the disk is gone")
    expect(String(yield* Effect.exit(ask("brocken")))).toContain("There is no background work brocken. There is: broken")
  }).pipe(Effect.provide(program("manual")))
)

it.scoped("work is forgotten with its scope, and two programs of a process do not share any", () =>
  Effect.gen(function* () {
    const { names } = yield* BackgroundWork
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Worker.start({ name: "first", every: "1 minute", run: Effect.void })
        expect(yield* names).toStrictEqual(["first"])
        expect(
          yield* Effect.provide(
            Effect.flatMap(BackgroundWork, (other) => other.names),
            program("manual")
          )
        ).toStrictEqual([])
      })
    )
    expect(yield* names).toStrictEqual([])
  }).pipe(Effect.provide(program("manual")))
)
