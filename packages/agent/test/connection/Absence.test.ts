import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Absence from "../../src/connection/Absence.js"
import { whileAdvancing } from "../Advancing.js"

/** Attempts that fail in the rhythm of an agent that ends. */
const failing = (absence: Absence.Absence) => Effect.fork(Effect.forever(Effect.delay(absence.failed, "1 second")))

it.scoped("a server counts as away once there was no connection for the whole time", () =>
  Effect.gen(function* () {
    const connected = yield* Effect.makeLatch(true)
    const absence = yield* Absence.make(connected)
    yield* failing(absence)
    const waiting = yield* Effect.fork(absence.away("10 seconds"))
    const lost = Effect.zipRight(absence.lost, connected.close)
    const comesAndGoes = Effect.gen(function* () {
      yield* Effect.delay(lost, "20 seconds")
      yield* Effect.delay(connected.open, "8 seconds")
      yield* Effect.delay(lost, "2 seconds")
    })
    yield* Effect.fork(comesAndGoes)
    // 30 seconds until the last connection ends, then ten without one, and the time between two looks
    expect((yield* whileAdvancing(waiting)).seconds).toBeOneOf([40, 41])
  })
)

it.scoped("a server that has been away for long counts as away at the next failure", () =>
  Effect.gen(function* () {
    const absence = yield* Absence.make(yield* Effect.makeLatch())
    yield* Effect.fork(Effect.delay(absence.failed, "62 seconds"))
    const waiting = yield* Effect.fork(Effect.delay(absence.away("10 seconds"), "60 seconds"))
    expect((yield* whileAdvancing(waiting)).seconds).toBeOneOf([62, 63])
  })
)

it.scoped("an address that does not answer delays its callers for no longer than the time", () =>
  Effect.gen(function* () {
    const absence = yield* Absence.make(yield* Effect.makeLatch())
    const waiting = yield* Effect.fork(Effect.delay(absence.away("10 seconds"), "60 seconds"))
    expect((yield* whileAdvancing(waiting)).seconds).toBeOneOf([70, 71])
  })
)
