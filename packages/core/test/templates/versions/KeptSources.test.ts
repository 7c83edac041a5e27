import { Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import * as KeptSources from "../../../src/templates/versions/KeptSources.js"

const aSource = () => new KeptSources.VersionSource({ id: Uuid.Uuid.make(randomUUID()), file: Uuid.Uuid.make(randomUUID()) })

/** Sources of a size, and how many of them are open. */
const counting = (size: number) =>
  Effect.gen(function* () {
    const count = { open: 0, opened: 0 }
    const acquire = Effect.sync(() => {
      count.open++
      count.opened++
      return { size }
    })
    const source = yield* KeptSources.make(() => Effect.acquireRelease(acquire, () => Effect.sync(() => count.open--)))
    return { count, hold: source, use: (of: KeptSources.VersionSource) => Effect.scoped(source(of)) }
  })

it.scoped("stay open for a while after their last use", () =>
  Effect.gen(function* () {
    const { count, use } = yield* counting(1)
    const source = aSource()
    yield* use(source)
    yield* use(source)
    expect(count).toEqual({ open: 1, opened: 1 })
    yield* TestClock.adjust("11 seconds")
    expect(count.open).toBe(0)
  })
)

it.scoped("end the one that was idle longest where too many would stay open", () =>
  Effect.gen(function* () {
    const { count, use } = yield* counting(4 * 1024 * 1024)
    const [first = aSource(), second = aSource(), ...others] = Array.from({ length: 16 }, aSource)
    yield* Effect.forEach([first, second, ...others], use)
    yield* use(first)
    yield* use(aSource())
    expect(count).toEqual({ open: 16, opened: 17 })
    yield* Effect.forEach([first, ...others], use)
    expect(count).toEqual({ open: 16, opened: 17 })
    yield* use(second)
    expect(count).toEqual({ open: 16, opened: 18 })
    yield* TestClock.adjust("11 seconds")
    expect(count.open).toBe(0)
  })
)

it.scoped("are opened for each use while as many are in use as may stay open", () =>
  Effect.gen(function* () {
    const { count, hold, use } = yield* counting(1)
    const held = Array.from({ length: 16 }, aSource)
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Effect.forEach(held, hold)
        const further = aSource()
        yield* use(further)
        yield* use(further)
        expect(count).toEqual({ open: 16, opened: 18 })
      })
    )
    yield* Effect.forEach(held, use)
    expect(count).toEqual({ open: 16, opened: 18 })
  })
)

it.scoped("do not stay open where they are large", () =>
  Effect.gen(function* () {
    const { count, use } = yield* counting(4 * 1024 * 1024 + 1)
    yield* use(aSource())
    expect(count).toEqual({ open: 0, opened: 1 })
  })
)
