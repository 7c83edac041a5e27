import { StartNotice } from "@atelier/agent-protocol"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream, TestClock } from "effect"
import { AgentReport, awaitAgent, reasonOf } from "../../src/container/AgentStart.js"

const unreachable = StartNotice.encode({ agent: "unreachable", url: "http://a", cause: "connection refused" })
const reached = StartNotice.encode({ agent: "reached", url: "http://a" })

describe("the start of an agent in a container", () => {
  it.effect("ends with the first answer of the service", () =>
    Effect.gen(function* () {
      const lines = Stream.concat(Stream.make("booting", '{"agent":', unreachable, reached), Stream.never)
      expect(yield* awaitAgent(lines)).toEqual(AgentReport.Reached())
    })
  )

  it.effect("says why the service was not reached in time", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.fork(awaitAgent(Stream.concat(Stream.make(unreachable), Stream.never)))
      yield* TestClock.adjust("30 seconds")
      const report = yield* Fiber.join(waiting)
      expect(report).toEqual(AgentReport.Unreachable({ url: "http://a", cause: "connection refused" }))
      expect(reasonOf(report, "main")).toContain('The agent "main" cannot reach http://a from its container: connection refused.')
    })
  )

  it.effect("ends with the container, and with what the agent said of it", () =>
    Effect.gen(function* () {
      const failed = StartNotice.encode({ agent: "failed", cause: "the disk is full" })
      expect(yield* awaitAgent(Stream.make(failed))).toEqual(AgentReport.Ended({ cause: "the disk is full" }))
      expect(yield* awaitAgent(Stream.make("sh: not found"))).toEqual(AgentReport.Ended({ cause: undefined }))
    })
  )

  it.effect("that says nothing is told from one that fails", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.fork(awaitAgent(Stream.never))
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(waiting)).toEqual(AgentReport.Silent())
    })
  )
})
