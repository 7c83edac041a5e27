import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { makeOutages } from "../../src/local/OutageFile.js"

/** A file with one line that no process can remove. */
const fixed = "/proc/self/comm"

it.effect.skipIf(!existsSync(fixed))("a report is passed on once even if its file cannot be removed", () =>
  Effect.gen(function* () {
    const told: Array<string> = []
    const passOn = makeOutages()
    const tell = (message: string) => Effect.sync(() => void told.push(message))
    yield* Effect.exit(passOn([{ path: fixed, tell: () => Effect.dieMessage("the store is away") }]))
    for (let turn = 0; turn < 3; turn++) yield* passOn([{ path: fixed, tell }])
    expect(told).toHaveLength(1)
  })
)
