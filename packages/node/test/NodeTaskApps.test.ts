import { AgentDialer } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { TaskApps } from "@atelier/core/tasks"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, TestClock } from "effect"
import { NodeTaskApps } from "../src/index.js"

const request = {
  target: { agent_id: Uuid.nil, workspace_id: Uuid.nil, port: 80 },
  method: "GET",
  base: new URL("http://localhost/"),
  path: "/status"
} as const

it.effect("ends a request that is not answered within 30 seconds, with its connection", () =>
  Effect.gen(function* () {
    const sent = yield* Deferred.make<string>()
    const closed = yield* Deferred.make<void>()
    const dialer = Layer.succeed(AgentDialer, {
      dial: () =>
        Effect.as(
          Effect.addFinalizer(() => Deferred.succeed(closed, undefined)),
          {
            read: Effect.never,
            write: (bytes) => Effect.asVoid(Deferred.succeed(sent, new TextDecoder().decode(bytes))),
            finish: Effect.void
          }
        )
    })
    const apps = yield* Effect.provide(TaskApps, Layer.provide(NodeTaskApps.layer, dialer))
    const asking = yield* Effect.fork(Effect.flip(apps.request(request)))
    expect(yield* Deferred.await(sent)).toContain("GET /status HTTP/1.1")
    yield* TestClock.adjust("29 seconds")
    expect(Option.isNone(yield* Fiber.poll(asking))).toBe(true)
    yield* TestClock.adjust("1 second")
    expect((yield* Fiber.join(asking)).message).toContain("30 seconds")
    yield* Deferred.await(closed)
  })
)
