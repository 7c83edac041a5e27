/** The power of the simulation: it finds defects that were repaired, which patches of the sources put back. */
import { EventBus } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Logger, ManagedRuntime, Option, Redacted, TestClock } from "effect"
import { fileURLToPath } from "node:url"
import * as Ending from "../../http/src/server/operate/Ending.js"
import * as EventBusModule from "../../storage-postgres/src/EventBus.js"
import { aWayTo } from "../../../test/outside/ways.js"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { planOf } from "../src/index.js"
import { bundlePatched } from "./patched.mjs"

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** A module with the defect that a patch puts back, in a bundle. */
const bundled = async (defect: string, entry?: string): Promise<string> => {
  const bundle = pathOf(`../../../node_modules/.cache/simulation/${defect}.mjs`)
  await bundlePatched(pathOf(`defects/${defect}.patch`), bundle, entry)
  return bundle
}

/** The modules of the simulation, with the defect that a patch puts back. */
const patched = async (defect: string): Promise<typeof import("../src/index.js")> => await import(await bundled(defect))

describe("a defect is found:", () => {
  it("a failure ends the loops of background work", async () => {
    const { failEachLoop, makeSetting } = await patched("failure-ends-loops")
    const loops = Effect.runSync(failEachLoop(Effect.runSync(makeSetting), 60_000))
    const ended = loops.flatMap(({ again, name }) => (again === undefined ? [name] : []))
    expect(ended).toContain("replica_heartbeat")
    expect(ended).toContain("notification_delivery")
  })

  // A change of the sources changes what a seed does: the search begins with the seed that found the defect last
  it.each([
    ["own-clocks-count", 24],
    ["pool-deletes-claimed", 78]
  ] as const)("%s", async (defect, first) => {
    const { makeSetting, runHistory } = await patched(defect)
    const setting = Effect.runSync(makeSetting)
    const isBroken = (seed: number) => Effect.runSync(runHistory(setting, planOf(seed))).broken.length > 0
    const seeds = Array.from({ length: 200 }, (_, index) => first + index)
    expect(seeds.find(isBroken)).toBeDefined()
  })
})

// What the simulation replaces: the connection that listens, and the program around core
describe("a defect of a real part is found:", () => {
  const hears = ({ layer }: typeof EventBusModule) =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const way = yield* aWayTo(url)
      const services = yield* Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const events = layer(Redacted.make(way.url), () => false, { every: "20 millis", within: "500 millis" })
      const listener = Context.get(yield* Layer.build(Layer.provide(events, Layer.succeedContext(services))), EventBus)
      const lost = yield* Deferred.make<void>()
      yield* listener.listen("a", () => Deferred.unsafeDone(lost, Effect.void))
      way.silence()
      return yield* Effect.timeoutOption(Deferred.await(lost), "3 seconds")
    })

  it.scopedLive("a silent connection that listens for events is kept", () =>
    Effect.gen(function* () {
      const path = "packages/storage-postgres/src/EventBus.ts"
      const bundle = yield* Effect.promise(() => bundled("silent-listener-is-kept", path))
      const withDefect: typeof EventBusModule = yield* Effect.promise(() => import(bundle))
      expect(Option.isSome(yield* hears(EventBusModule))).toBe(true)
      expect(yield* hears(withDefect)).toStrictEqual(Option.none())
    })
  )

  /** Whether a service ends while its store does not answer. */
  const ends = ({ endWithin, make }: typeof Ending) =>
    Effect.gen(function* () {
      const answered = yield* Deferred.make<void>()
      const runtime = ManagedRuntime.make(Layer.scopedDiscard(Effect.addFinalizer(() => Deferred.await(answered))))
      yield* runtime.runtimeEffect
      const ending = yield* Effect.fork(endWithin(runtime, make(), Duration.seconds(30)))
      yield* TestClock.adjust("31 seconds")
      const hasEnded = Option.isSome(yield* Fiber.poll(ending))
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(ending)
      return hasEnded
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))

  it.effect("the end of a service has no bound", () =>
    Effect.gen(function* () {
      const bundle = yield* Effect.promise(() => bundled("end-has-no-bound", "packages/http/src/server/operate/Ending.ts"))
      const withDefect: typeof Ending = yield* Effect.promise(() => import(bundle))
      expect(yield* ends(Ending)).toBe(true)
      expect(yield* ends(withDefect)).toBe(false)
    })
  )
})
