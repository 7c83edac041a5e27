import { describe, expect, it } from "@effect/vitest"
import type { Router } from "@atelier/agent-protocol"
import { Deferred, Effect, Runtime } from "effect"
import { ServedCall } from "../../src/drpc/ServedCall.js"
import { Waiting } from "../../src/drpc/Waiting.js"
import { connected } from "../Connected.js"

/** A call, and what begins to answer it by a procedure. */
const called = Effect.gen(function* () {
  const { client } = yield* connected()
  const stream = yield* client.open
  const call = new ServedCall<never>(1, { rpc: "/test.Echo/Say", metadata: new Map() }, stream, new Waiting(1024))
  const begin = (procedure: Router.Procedure<never>): void =>
    call.begin({ procedureOf: () => procedure }, Runtime.runFork(Runtime.defaultRuntime))
  return { call, begin }
})

describe("a call that is interrupted", () => {
  it.scoped("is over when its handler has ended, though that still takes a request", () =>
    Effect.gen(function* () {
      const { begin, call } = yield* called
      const told = yield* Deferred.make<boolean>()
      const go = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      call.deliver(new Uint8Array(1), () => undefined)
      begin(({ receive }) =>
        Effect.uninterruptible(
          Deferred.await(go).pipe(
            Effect.zipRight(receive),
            Effect.zipRight(Deferred.succeed(taken, undefined)),
            Effect.zipRight(Deferred.await(finish))
          )
        )
      )
      call.interrupt(() => Deferred.unsafeDone(told, Effect.succeed(call.isOver)))
      yield* Deferred.succeed(go, undefined)
      yield* Deferred.await(taken)
      yield* Deferred.succeed(finish, undefined)
      expect(yield* Deferred.await(told)).toBe(true)
    })
  )

  it.scoped("by its handler's first step is over", () =>
    Effect.gen(function* () {
      const { begin, call } = yield* called
      const told = yield* Deferred.make<void>()
      begin(() =>
        Effect.zipRight(
          Effect.sync(() => call.interrupt(() => Deferred.unsafeDone(told, Effect.void))),
          Effect.never
        )
      )
      yield* Deferred.await(told)
    })
  )
})
