import { Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import * as KeptSources from "../../src/templates/KeptSources.js"

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
    return { count, use: (of: KeptSources.VersionSource) => Effect.scoped(source(of)) }
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

it.scoped("are open up to a number of them; further ones are opened for each use", () =>
  Effect.gen(function* () {
    const { count, use } = yield* counting(4 * 1024 * 1024)
    yield* Effect.forEach(Array.from({ length: 100 }, aSource), use)
    expect(count).toEqual({ open: 16, opened: 100 })
    yield* TestClock.adjust("11 seconds")
    const later = aSource()
    yield* use(later)
    yield* use(later)
    expect(count).toEqual({ open: 1, opened: 101 })
  })
)

it.scoped("do not stay open where they are large", () =>
  Effect.gen(function* () {
    const { count, use } = yield* counting(4 * 1024 * 1024 + 1)
    yield* use(aSource())
    expect(count).toEqual({ open: 0, opened: 1 })
  })
)
