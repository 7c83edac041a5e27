import { AgentDialer } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { TaskApps } from "@atelier/core/tasks"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Queue, TestClock } from "effect"
import { NodeTaskApps } from "../src/index.js"

const request = {
  target: { agent_id: Uuid.nil, workspace_id: Uuid.nil, port: 80 },
  method: "GET",
  base: new URL("http://localhost/"),
  path: "/status"
} as const

/** What an app has sent before it hangs. */
const beginnings = [
  ["is not answered", ""],
  ["is answered without end", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"],
  ["is answered with half a head", "HTTP/1.1 200 OK\r\ncontent-"]
] as const

for (const [title, beginning] of beginnings) {
  it.effect(`ends a request that ${title} within 30 seconds, with its connection`, () =>
    Effect.gen(function* () {
      const sent = yield* Deferred.make<string>()
      const closed = yield* Deferred.make<void>()
      const arriving = yield* Queue.unbounded<Uint8Array>()
      if (beginning !== "") yield* arriving.offer(new TextEncoder().encode(beginning))
      const dialer = Layer.succeed(AgentDialer, {
        dial: () =>
          Effect.as(
            Effect.addFinalizer(() => Deferred.succeed(closed, undefined)),
            {
              read: Effect.asSome(arriving.take),
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
}

it.effect("ends a request whose connection is not made within 30 seconds", () =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<void>()
    const dialer = Layer.succeed(AgentDialer, { dial: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined)) })
    const apps = yield* Effect.provide(TaskApps, Layer.provide(NodeTaskApps.layer, dialer))
    const asking = yield* Effect.fork(Effect.flip(apps.request(request)))
    yield* Effect.yieldNow()
    yield* TestClock.adjust("30 seconds")
    expect((yield* Fiber.join(asking)).message).toContain("30 seconds")
    yield* Deferred.await(ended)
  })
)
