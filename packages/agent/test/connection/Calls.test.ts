import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../../src/connection/Calls.js"
import { whileAdvancing } from "../Advancing.js"

it.scoped("a server counts as away once there was no connection for the whole time", () =>
  Effect.gen(function* () {
    const connected = yield* Effect.makeLatch(true)
    const { away } = Calls.make({ connected, current: () => undefined })
    const waiting = yield* Effect.fork(away("10 seconds"))
    const comesAndGoes = Effect.gen(function* () {
      yield* Effect.delay(connected.close, "20 seconds")
      yield* Effect.delay(connected.open, "8 seconds")
      yield* Effect.delay(connected.close, "2 seconds")
    })
    yield* Effect.fork(comesAndGoes)
    // 30 seconds until the last connection ends, then ten without one, and the time between two looks
    expect((yield* whileAdvancing(waiting)).seconds).toBeOneOf([40, 41])
  })
)
