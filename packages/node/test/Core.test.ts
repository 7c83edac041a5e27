import { Access, SystemActor } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { Organizations } from "@atelier/core/organizations"
import { BackgroundWork } from "@atelier/core/platform"
import { Duration, Effect, Logger, ManagedRuntime } from "effect"
import { describe, expect, it } from "vitest"
import { databases, sqlite } from "../../../test/store/databases.js"
import { Core } from "../src/index.js"

const organizations = Effect.flatMap(Organizations, ({ list }) => list()).pipe(Access.actingAs(SystemActor.systemRestricted))

const run = async <A, E>(options: Core.Options, effect: Effect.Effect<A, E, Core.Services>): Promise<A> => {
  const runtime = ManagedRuntime.make(Core.layer(options))
  try {
    return await runtime.runPromise(Effect.provide(effect, Logger.remove(Logger.defaultLogger)))
  } finally {
    await runtime.dispose()
  }
}

describe.each(databases)("the core alone on %s", (_, storage) => {
  it("runs each part of its background work when it is asked for it", async () => {
    const program = Effect.gen(function* () {
      const work = yield* BackgroundWork
      const names = yield* work.names
      yield* work.run(...names)
      return names
    })
    const names = await run({ storage, backgroundWork: "manual" }, program)
    expect(names.length).toBeGreaterThan(30)
    expect(new Set(names).size).toBe(names.length)
  })

  it("has a default organization and the options that it is given", async () => {
    const options = { defaultOrganizationName: "engineering", sessionDuration: "2 days" } as const
    const program = Effect.all([organizations, Effect.map(DeploymentOptions, ({ sessionDuration }) => Duration.toHours(sessionDuration))])
    expect(await run({ storage, options }, program)).toMatchObject([[{ name: "engineering" }], 48])
  })
})

it("a layer that is built twice makes two cores, each with work of its own", async () => {
  const layer = Core.layer({ storage: sqlite, backgroundWork: "manual" })
  const [one, other] = [ManagedRuntime.make(layer), ManagedRuntime.make(layer)]
  const names = Effect.flatMap(BackgroundWork, (work) => work.names)
  const before = (await Promise.all([one.runPromise(names), other.runPromise(names)])).map(({ length }) => length)
  await other.dispose()
  expect([...before, (await one.runPromise(names)).length]).toStrictEqual(before.concat(before[0] ?? 0))
  expect(before[0]).toBeGreaterThan(30)
  await one.dispose()
})

it("two cores of one process share nothing", async () => {
  const [one, other] = ["one", "other"].map((defaultOrganizationName) =>
    ManagedRuntime.make(Core.layer({ storage: sqlite, options: { defaultOrganizationName }, backgroundWork: "manual" }))
  )
  try {
    const names = await Promise.all([one, other].map((runtime) => runtime?.runPromise(organizations)))
    expect(names).toMatchObject([[{ name: "one" }], [{ name: "other" }]])
  } finally {
    await Promise.all([one?.dispose(), other?.dispose()])
  }
})

it.each([
  [{ storage: sqlite, engine: [] }, "engine: is unknown"],
  [{ storage: { filename: ":memory:" } }, "storage: must be a layer, such as Sqlite.layer({ filename }) of @atelier/storage-sqlite"],
  [{ storage: sqlite, backgroundWork: "off" }, "backgroundWork"],
  [{ storage: sqlite, options: { sesionDuration: "2 days" } }, "options.sesionDuration: is unknown; did you mean sessionDuration?"]
])("a mistake in its options is named before anything starts: %#", (options, message) => {
  const unchecked: unknown = options
  expect(() => Core.layer(unchecked as Core.Options)).toThrow(message)
})
