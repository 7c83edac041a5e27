import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { makeQuestions } from "../../src/cluster/Questions.js"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it("a question has the answers of all that were asked", async () => {
  const { answered, ask } = makeQuestions(3_000)
  const answers = ask([1, 2], (number, id) => answered(number, id, `of ${number}`))
  expect(await answers).toStrictEqual([
    { number: 1, value: "of 1" },
    { number: 2, value: "of 2" }
  ])
})

it("a question to none has no answers at once", async () => {
  expect(await makeQuestions(3_000).ask([], () => undefined)).toStrictEqual([])
})

it("one that does not answer in time is left out", async () => {
  const { answered, ask } = makeQuestions(3_000)
  const answers = ask([1, 2], (number, id) => number === 1 && answered(number, id, "here"))
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await answers).toStrictEqual([{ number: 1, value: "here" }])
})

it("one that has gone is not waited for, and a second answer counts nothing", async () => {
  const { answered, ask, gone } = makeQuestions(3_000)
  const answers = ask([1, 2], (number, id) => {
    if (number !== 1) return
    answered(number, id, "first")
    answered(number, id, "second")
  })
  gone(2)
  expect(await answers).toStrictEqual([{ number: 1, value: "first" }])
  expect(vi.getTimerCount()).toBe(0)
})
