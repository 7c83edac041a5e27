/** What a tool leaves behind. */
import { createClient } from "@atelier/client"
import { getEventListeners } from "node:events"
import { expect, it } from "vitest"
import { readOnly, tool } from "../src/Tool.js"
import { within } from "../src/workspaceOf.js"

const client = createClient({ baseUrl: "http://127.0.0.1:1" })

/** A tool that runs a function with a time of an hour. */
const toolThat = (run: (signal: AbortSignal) => Promise<void>) =>
  tool({
    name: "list_templates",
    title: "",
    description: "",
    ...readOnly,
    input: {},
    output: {},
    run: async (_client, _input, signal) => {
      await run(within(signal, 3_600_000))
      return {}
    }
  })

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

it.each(["answers", "fails"])("a tool that %s keeps neither its time nor a listener", async (end) => {
  const before = timers()
  const { signal } = new AbortController()
  let own: AbortSignal | undefined
  const run = toolThat(async (within) => {
    own = within
    expect([timers(), getEventListeners(signal, "abort").length]).toEqual([before + 1, 1])
    if (end === "fails") throw new Error("no")
  }).run(client, {}, signal)
  await run.catch(() => undefined)
  expect([timers(), getEventListeners(signal, "abort").length, own?.aborted]).toEqual([before, 0, true])
})

it("a tool hears that its caller leaves, also before it begins", async () => {
  const caller = new AbortController()
  const reasons: Array<unknown> = []
  const waiting = toolThat(
    (within) => new Promise((resolve) => within.addEventListener("abort", () => resolve(void reasons.push(within.reason))))
  )
  const running = waiting.run(client, {}, caller.signal)
  caller.abort("left")
  await running
  await toolThat(async (within) => void reasons.push(within.reason)).run(client, {}, caller.signal)
  expect(reasons).toEqual(["left", "left"])
})

it("the time of a step ends its signal as a time that is over", async () => {
  const signal = within(new AbortController().signal, 1)
  await new Promise((resolve) => signal.addEventListener("abort", resolve))
  expect(signal.reason).toMatchObject({ name: "TimeoutError" })
})
