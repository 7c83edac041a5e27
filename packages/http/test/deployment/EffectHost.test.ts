import { HttpLayerRouter, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Atelier } from "@atelier/http"
import { Organizations } from "@atelier/core/organizations"
import { Access, SystemActor } from "@atelier/core/access"
import { DeploymentOptions, Entitlements } from "@atelier/core/deployment"
import { Background, BackgroundWork } from "@atelier/core/platform"
import { Chunk, Clock, Duration, Effect, FiberRef, Layer, Logger, LogLevel, ManagedRuntime, Option, TestClock, TestContext } from "effect"
import { createServer } from "node:http"
import { expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"

it("an Effect application serves the interface beside its own routes", async () => {
  const server = createServer()
  const routes = HttpLayerRouter.use((router) =>
    Effect.gen(function* () {
      const { application } = yield* Atelier.Interface
      yield* router.prefixed("/dev").add("*", "/*", application)
      yield* router.add("GET", "/own", Effect.succeed(HttpServerResponse.text("the host's")))
    })
  )
  const atelier = Atelier.layer({ accessUrl: "http://host.test/dev", storage: sqlite, logLevel: "none" })
  const host = HttpLayerRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(() => server, { port: 0 })),
    Layer.provideMerge(atelier)
  )
  const runtime = ManagedRuntime.make(host)
  try {
    const organizations = await runtime.runPromise(
      Effect.flatMap(Organizations, ({ list }) => list()).pipe(Access.actingAs(SystemActor.systemRestricted))
    )
    expect(organizations).toMatchObject([{ is_default: true }])
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    const info = await fetch(`${url}/dev/api/v2/buildinfo`)
    expect([info.status, await info.json()]).toMatchObject([200, { dashboard_url: "http://host.test/dev" }])
    const posted = await fetch(`${url}/dev/api/v2/users/login`, { method: "POST", body: "{}" })
    expect(posted.status).toBe(400)
    expect(await (await fetch(`${url}/own`)).text()).toBe("the host's")
  } finally {
    await runtime.dispose()
  }
})

it("an Effect application uses the services with the deployment's options", async () => {
  const lines: Array<unknown> = []
  const live = Clock.make()
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => 42,
    unsafeCurrentTimeNanos: () => 42_000_000n,
    currentTimeMillis: Effect.succeed(42),
    currentTimeNanos: Effect.succeed(42_000_000n),
    sleep: (duration) => live.sleep(duration)
  }
  const atelier = await Atelier.make({
    accessUrl: "http://host.test/dev",
    storage: sqlite,
    options: { disablePasswordAuth: true },
    entitlements: { has: (feature) => feature === "template_rbac" },
    clock,
    logger: Logger.make(({ message }) => void lines.push(message))
  })
  try {
    const seen = await atelier.runtime.runPromise(
      Effect.gen(function* () {
        yield* Effect.log("from the host")
        const { accessUrl, disablePasswordAuth } = yield* DeploymentOptions
        const { has } = yield* Entitlements
        const now = yield* Clock.currentTimeMillis
        return { accessUrl, disablePasswordAuth, groups: has("template_rbac"), scim: has("scim"), now }
      })
    )
    expect(seen).toStrictEqual({
      accessUrl: "http://host.test/dev",
      disablePasswordAuth: true,
      groups: true,
      scim: false,
      now: 42
    })
    expect(lines.flat()).toContain("from the host")
  } finally {
    await atelier.dispose()
  }
})

it("the second end of a service in an Effect application has a time limit of its own", async () => {
  const atelier = Atelier.layer({ accessUrl: "http://host.test/dev", storage: sqlite, logLevel: "none" })
  const waits: Array<number> = []
  const clock = Object.assign(Clock.make(), {
    sleep: (duration: Duration.Duration) => Effect.sync(() => void waits.push(Duration.toSeconds(duration)))
  })
  const left = Effect.replicateEffect(Background.leftAfter("5 seconds")(Effect.never), 2)
  for (const start of ["first", "second"]) {
    const runtime = ManagedRuntime.make(atelier)
    try {
      expect(await runtime.runPromise(Effect.withClock(left, clock))).toStrictEqual([Option.none(), Option.none()])
      expect([start, waits.splice(0)]).toStrictEqual([start, [5, 5]])
    } finally {
      await runtime.dispose()
    }
  }
})

it("the layer leaves an Effect application its log and its spans", async () => {
  const lines: Array<unknown> = []
  const own = Logger.make(({ message }) => void lines.push(message))
  const atelier = Atelier.layer({ accessUrl: "http://host.test/dev", storage: sqlite, logger: Logger.none, logLevel: "none" })
  const program = Effect.gen(function* () {
    yield* Effect.logDebug("from the host")
    return yield* FiberRef.get(FiberRef.currentTracerEnabled)
  })
  const isTraced = await program.pipe(
    Effect.provide(atelier),
    Logger.withMinimumLogLevel(LogLevel.Debug),
    Effect.provide(Logger.replace(Logger.defaultLogger, own)),
    Effect.runPromise
  )
  expect([isTraced, lines.flat()]).toStrictEqual([true, ["from the host"]])
})

it("the layer goes by the clock that an Effect application has", async () => {
  const atelier = Atelier.layer({ accessUrl: "http://host.test/dev", storage: sqlite, logLevel: "none" })
  const program = Effect.gen(function* () {
    yield* TestClock.adjust("3 seconds")
    const [{ created_at } = { created_at: undefined }] = yield* Effect.flatMap(Organizations, ({ list }) => list())
    return [yield* Clock.currentTimeMillis, created_at?.toString()]
  }).pipe(Access.actingAs(SystemActor.systemRestricted))
  const seen = await program.pipe(Effect.provide(atelier), Effect.provide(TestContext.TestContext), Effect.runPromise)
  expect(seen).toStrictEqual([3_000, "1970-01-01T00:00:00.000Z"])
})

it("a host whose background work is manual runs what it asks for", async () => {
  const atelier = Atelier.layer({ accessUrl: "http://host.test/dev", storage: sqlite, logLevel: "none", backgroundWork: "manual" })
  const program = Effect.gen(function* () {
    yield* TestClock.adjust("365 days")
    const { names, run } = yield* BackgroundWork
    yield* run("workspace_life_cycle", "retention")
    const unknown = yield* Effect.exit(run("lifecycle"))
    return { sleeps: Chunk.size(yield* TestClock.sleeps()), names: yield* names, unknown: String(unknown) }
  })
  const { names, sleeps, unknown } = await program.pipe(Effect.provide(atelier), Effect.provide(TestContext.TestContext), Effect.runPromise)
  expect(sleeps).toBeLessThan(5)
  expect(names).toContain("user_dormancy")
  expect(unknown).toMatch(/There is no background work lifecycle\. There is: .*user_dormancy/)
})
