import { describe, it } from "@effect/vitest"
import { makeAlarms } from "@atelier/core/platform"
import { Effect, TestClock } from "effect"
import { expect } from "vitest"
import { machineConnection } from "../../src/sandboxes/machineConnection.js"
import { Heartbeat } from "../../src/server/operate/Heartbeat.js"

/** A connection with alarms of its own. */
const connected = (...asked: Parameters<typeof machineConnection>) =>
  Effect.flatMap(makeAlarms, (alarms) => Effect.provideService(machineConnection(...asked), Heartbeat, alarms))

const silent = Effect.succeed({ read: Effect.never, write: () => Effect.void, finish: Effect.void })

describe("a connection to an agent's machine", () => {
  it.scoped("ends once it has carried nothing for its time", () =>
    Effect.gen(function* () {
      const socket = yield* connected(silent, "10 minutes")
      const ended = new Promise((resolve) => void socket.once("error", resolve))
      yield* TestClock.adjust("6 minutes")
      socket.write("a request")
      yield* Effect.yieldNow()
      yield* TestClock.adjust("9 minutes")
      expect(socket.destroyed).toBe(false)
      yield* TestClock.adjust("4 minutes")
      expect(yield* Effect.promise(() => ended)).toMatchObject({ message: "The agent is silent for too long." })
    })
  )

  it.scoped("fails when the agent is not reached in time", () =>
    Effect.gen(function* () {
      const reached = yield* Effect.fork(Effect.flip(connected(Effect.never, "10 minutes")))
      yield* TestClock.adjust("30 seconds")
      expect(yield* reached).toMatchObject({ message: "The workspace's agent does not answer." })
    })
  )
})
