import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { runAgent, serve } from "../TestServer.js"
import { call } from "./machineClient.js"

const anything = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\0", "/", "..", "~", "/dev/null", "a".repeat(70_000)))
const aNumber = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 1.5, Number.MAX_SAFE_INTEGER, 16 * 1024 * 1024, null))

/** Orders of a program that does nothing, with whatever else an order may have, and what it may not. */
const anOrder = fc.record(
  {
    program: fc.constantFrom("true", "", "/missing/program", "/", "true\0"),
    command: fc.constantFrom(":", "exit 3", "kill -9 $$", "", ":\0"),
    args: fc.oneof(fc.array(anything, { maxLength: 4 }), anything),
    cwd: anything,
    env: fc.oneof(fc.dictionary(anything, anything, { maxKeys: 4 }), anything),
    stdin: fc.oneof(anything, fc.boolean()),
    encoding: fc.constantFrom("utf8", "base64", "latin1", null),
    timeout_ms: aNumber,
    max_output_bytes: aNumber,
    unknown: anything
  },
  { requiredKeys: [] }
)

it.scopedLive("the agent answers whatever order with a result or the caller's mistake", () =>
  Effect.gen(function* () {
    const server = yield* serve({})
    yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))
    const session = yield* Effect.fromNullable(server.session())
    const orders = fc.sample(anOrder, { numRuns: 200, seed: 20_261_126 })
    const answers = yield* Effect.forEach(orders, (order) => call(session, "POST", "/exec", order), { concurrency: 4 })
    const wrong = answers.flatMap((answer, index) =>
      answer.status === 200 || answer.status === 400 ? [] : [{ answer, order: orders[index] }]
    )
    expect(wrong).toStrictEqual([])
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200, 400]))
  })
)
