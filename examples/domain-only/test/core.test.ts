/** Rules on the whole core: no port is opened, and each test moves its own clock. */
import { Access } from "@atelier/core/access"
import { ApiKeys, Sessions } from "@atelier/core/identity"
import { BackgroundWork } from "@atelier/core/platform"
import { type Workspace, WorkspaceQuotas, Workspaces } from "@atelier/core/workspaces"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, TestClock, TestContext } from "effect"
import { aMember, anOwner, aTemplate, aWorkspace, layer } from "../src/core.js"

/** One tick of the service's own starts, stops and deletions, and the builds that follow. */
const tick = Effect.flatMap(BackgroundWork, ({ run }) => run("workspace_life_cycle", "provisioner_jobs"))

const stateOf = (id: Workspace["id"]) =>
  Effect.map(
    Effect.flatMap(Workspaces, ({ get }) => get(id, { includeDeleted: true })),
    ({ dormant_at, latest_build: { reason, status } }) => ({ isDormant: dormant_at !== null, reason, status })
  )

describe("rules", () => {
  it.effect("a member does not see the workspace of another member", () =>
    Effect.gen(function* () {
      const as = Access.actingAs(yield* anOwner("ada"))
      const grace = yield* as(aMember("grace"))
      const template = yield* as(aTemplate("shell"))
      const id = yield* as(aWorkspace("first", template.id))
      expect(yield* as(stateOf(id))).toStrictEqual({ isDormant: false, reason: "initiator", status: "running" })
      const refusal = yield* stateOf(id).pipe(Access.actingAs(grace), Effect.flip)
      expect(refusal._tag).toBe("NotFound")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a workspace above the quota does not start", () =>
    Effect.gen(function* () {
      const as = Access.actingAs(yield* anOwner("ada"))
      const template = yield* as(aTemplate("large", 3))
      const id = yield* as(aWorkspace("first", template.id))
      const { latest_build } = yield* as(Effect.flatMap(Workspaces, ({ get }) => get(id, { includeDeleted: false })))
      expect(latest_build).toMatchObject({ status: "failed", job: { error_code: "INSUFFICIENT_QUOTA" } })
      expect(yield* as(Effect.flatMap(WorkspaceQuotas, ({ inDefault }) => inDefault("me")))).toMatchObject({ budget: 0 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a workspace starts by its schedule, stops after its time, and becomes dormant", () =>
    Effect.gen(function* () {
      const as = Access.actingAs(yield* anOwner("ada"))
      const template = yield* as(aTemplate("shell", 0, { dormant_ttl_ms: 7 * 86_400_000 }))
      const id = yield* as(aWorkspace("first", template.id, { ttl_ms: 3_600_000, autostart_schedule: "0 8 * * *" }))
      yield* TestClock.adjust("2 hours")
      yield* tick
      expect(yield* as(stateOf(id))).toStrictEqual({ isDormant: false, reason: "autostop", status: "stopped" })
      yield* TestClock.adjust("7 hours")
      yield* tick
      expect(yield* as(stateOf(id))).toStrictEqual({ isDormant: false, reason: "autostart", status: "running" })
      yield* TestClock.adjust("8 days")
      yield* tick // the start's time is over first
      yield* tick
      expect(yield* as(stateOf(id))).toStrictEqual({ isDormant: true, reason: "autostop", status: "stopped" })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a token expires", () =>
    Effect.gen(function* () {
      const as = Access.actingAs(yield* anOwner("ada"))
      const token = yield* as(Effect.flatMap(ApiKeys, ({ createToken }) => createToken("me", { lifetime: 3_600_000_000_000n })))
      const { authenticate } = yield* Sessions
      expect((yield* authenticate(token, {})).username).toBe("ada")
      yield* TestClock.adjust("61 minutes")
      expect((yield* Effect.flip(authenticate(token, {})))._tag).toBe("Unauthenticated")
    }).pipe(Effect.provide(layer()))
  )
})

it("a program without Effect runs use cases by promises", async () => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(layer(), TestContext.TestContext))
  try {
    const ada = await runtime.runPromise(anOwner("ada"))
    const template = await runtime.runPromise(Access.actingAs(ada)(aTemplate("shell")))
    const id = await runtime.runPromise(Access.actingAs(ada)(aWorkspace("first", template.id, { ttl_ms: 3_600_000 })))
    await runtime.runPromise(TestClock.adjust("2 hours"))
    await runtime.runPromise(tick)
    expect(await runtime.runPromise(Access.actingAs(ada)(stateOf(id)))).toMatchObject({ reason: "autostop", status: "stopped" })
  } finally {
    await runtime.dispose()
  }
})
