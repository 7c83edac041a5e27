import { describe, it } from "@effect/vitest"
import { AgentDialer } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { Effect, Exit, Fiber, Option, TestClock } from "effect"
import { Readable } from "node:stream"
import { expect } from "vitest"
import { AppConnections } from "../../src/apps/AppConnections.js"
import { type Exchange, exchange } from "../../src/apps/forward.js"

const id = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")

const asked = (signal: AbortSignal): Exchange => ({
  target: {
    organization_id: id,
    workspace_id: id,
    workspace_name: "dev",
    workspace_owner_id: id,
    agent_id: id,
    agent_name: "main",
    access_method: "path",
    type: "workspace_app",
    slug_or_port: "web",
    url: "http://localhost:8080",
    cors_behavior: "simple"
  },
  url: new URL("http://localhost:8080"),
  method: "GET",
  path: "/",
  headers: ["Host", "atelier.test"],
  body: Readable.from([]),
  framing: undefined,
  upgrade: undefined,
  idle: "10 minutes",
  signal
})

/** Exchanges a request with an app that takes all and says nothing. */
const withSilentApp = (signal: AbortSignal) => {
  const connections = new AppConnections()
  return exchange(asked(signal), connections).pipe(
    Effect.provideService(AgentDialer, {
      dial: () => Effect.succeed({ read: Effect.never, write: () => Effect.void, finish: Effect.void })
    }),
    Effect.ensuring(Effect.sync(() => connections.destroy()))
  )
}

describe("an exchange with an app that does not answer", () => {
  it.scoped("fails after ten minutes", () =>
    Effect.gen(function* () {
      const answer = yield* Effect.fork(Effect.flip(withSilentApp(new AbortController().signal)))
      yield* TestClock.adjust("9 minutes")
      expect(Option.isNone(yield* Fiber.poll(answer))).toBe(true)
      yield* TestClock.adjust("3 minutes")
      expect(yield* Fiber.join(answer)).toMatchObject({ _tag: "AppFailed", message: "The application is silent for too long." })
    })
  )

  it.scoped("is interrupted by its signal, also one that was aborted before", () =>
    Effect.gen(function* () {
      for (const when of ["during", "before"]) {
        const ending = new AbortController()
        if (when === "before") ending.abort()
        const answer = yield* Effect.fork(withSilentApp(ending.signal))
        yield* Effect.yieldNow()
        ending.abort()
        expect(Exit.isInterrupted(yield* Fiber.await(answer))).toBe(true)
      }
    })
  )
})
