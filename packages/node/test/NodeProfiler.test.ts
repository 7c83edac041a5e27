import { Profiler } from "@atelier/core/insights"
import { Duration, Effect, Fiber } from "effect"
import { Readable } from "node:stream"
import { gunzipSync } from "node:zlib"
import { Profile } from "pprof-format"
import { extract } from "tar-stream"
import { expect, it } from "vitest"
import { NodeProfiler } from "../src/index.js"

const run = <A>(effect: Effect.Effect<A>): Promise<A> => Effect.runPromise(Effect.provide(effect, NodeProfiler.layer))

const kept: Array<ReadonlyArray<number>> = []

/** Works and allocates under a name that profiles show. */
const worksForTheProfile = (): number => {
  let sum = 0
  for (let at = 0; at < 200; at++) {
    kept.push(Array.from({ length: 2_000 }, (_, index) => index * Math.random()))
    sum += kept.at(-1)?.reduce((left, right) => left + right, 0) ?? 0
  }
  return sum
}

/** Names of the functions in the samples of a profile, with the last value of their samples. */
const namesOf = (content: Uint8Array): ReadonlyMap<string, number> => {
  const profile = Profile.decode(gunzipSync(content))
  const nameOf = (id: number | bigint): string => {
    const line = profile.location.find((location) => location.id === id)?.line[0]
    const called = profile.function.find((one) => one.id === line?.functionId)
    return profile.stringTable.strings[Number(called?.name)] ?? ""
  }
  const names = new Map<string, number>()
  for (const { locationId, value } of profile.sample) {
    for (const name of new Set(locationId.map(nameOf))) names.set(name, (names.get(name) ?? 0) + Number(value.at(-1)))
  }
  return names
}

it("profiles name the functions that take time and memory", async () => {
  const profiles = await run(
    Effect.gen(function* () {
      const profiler = yield* Profiler
      const taken = yield* Effect.fork(profiler.take(["cpu", "heap"], Duration.millis(400)))
      yield* Effect.repeatN(Effect.zipRight(Effect.yieldNow(), Effect.sync(worksForTheProfile)), 10)
      return yield* Fiber.join(taken)
    })
  )
  expect(profiles.map(({ kind }) => kind)).toStrictEqual(["cpu", "heap"])
  for (const { content } of profiles) expect(namesOf(content).get("worksForTheProfile")).toBeGreaterThan(0)
})

it("a profile without a waiting caller ends, and the next one begins", async () => {
  const again = await run(
    Effect.gen(function* () {
      const profiler = yield* Profiler
      yield* Effect.timeoutOption(profiler.take(["cpu", "heap"], Duration.minutes(1)), "20 millis")
      return yield* profiler.take(["cpu", "heap"], Duration.millis(20))
    })
  )
  expect(again).toHaveLength(2)
})

it("an archive has a file for each profile", async () => {
  const archive = await run(
    Effect.flatMap(Profiler, ({ pack }) =>
      pack([
        { kind: "cpu", content: new Uint8Array([1]) },
        { kind: "heap", content: new Uint8Array([2, 3]) }
      ])
    )
  )
  const files: Array<readonly [string, number]> = []
  for await (const entry of Readable.from([gunzipSync(archive)]).pipe(extract())) {
    files.push([entry.header.name, entry.header.size ?? 0])
    entry.resume()
  }
  expect(files).toStrictEqual([
    ["cpu.pprof", 1],
    ["heap.pprof", 2]
  ])
})
