import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { streamPair } from "../../src/agentRpc/streamPair.js"

it.scoped("an end whose user is interrupted is a failure to the other end", () =>
  Effect.gen(function* () {
    const [other, own] = yield* streamPair
    const using = yield* Effect.fork(Effect.onExit(Effect.zipRight(own.write(Uint8Array.of(1)), Effect.never), own.close))
    yield* other.read
    yield* Fiber.interrupt(using)
    expect(yield* Effect.exit(other.read)).toMatchObject({ _tag: "Failure", cause: { _tag: "Fail", error: { _tag: "AgentUnreachable" } } })
  })
)
