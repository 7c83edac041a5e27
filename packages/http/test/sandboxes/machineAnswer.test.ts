import { describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect } from "vitest"
import { refusalIn } from "../../src/sandboxes/machineAnswer.js"

describe("a refusal by an agent", () => {
  it.effect("that has no end is answered with its status after 10 seconds", () =>
    Effect.gen(function* () {
      const response = Object.assign(new IncomingMessage(new Socket()), { statusCode: 409 })
      const answering = yield* Effect.fork(refusalIn(response))
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(answering)).status).toBe(409)
    })
  )
})
