import { afterEach, beforeEach, expect, it, vi } from "vitest"
import * as Admission from "../../../src/server/listener/Admission.js"

const clock = { now: 0 }

beforeEach(() => {
  clock.now = 0
  vi.useFakeTimers({ toFake: ["setImmediate"] })
  vi.spyOn(performance, "now").mockImplementation(() => clock.now)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Requests by their paths: those that have begun, and the seconds that the refused ones are to wait. */
const setUp = () => {
  const enter = Admission.make()
  const begun: Array<string> = []
  const refused: Array<number> = []
  const ask = (path: string, count = 1): void => {
    for (let index = 0; index < count; index++) {
      enter(path, { begin: () => void begun.push(path), refuse: (retryAfter) => void refused.push(retryAfter) })
    }
  }
  return { ask, begun, refused }
}

it("one request begins in each turn of the event loop", () => {
  const { ask, begun } = setUp()
  ask("/rpc", 3)
  expect(begun).toHaveLength(0)
  vi.advanceTimersToNextTimer()
  expect(begun).toHaveLength(1)
  vi.advanceTimersToNextTimer()
  expect(begun).toHaveLength(2)
})

it("a request does not wait for those of another path", () => {
  const { ask, begun } = setUp()
  ask("/rpc", 100)
  ask("/terminal")
  vi.advanceTimersToNextTimer()
  vi.advanceTimersToNextTimer()
  expect(begun).toStrictEqual(["/rpc", "/terminal"])
})

it("requests beyond what is let in within seconds are to come again one after the other", () => {
  const { ask, begun, refused } = setUp()
  ask("/rpc", 10_000)
  expect(refused.length).toBeGreaterThan(5_000)
  expect(refused[0]).toBeLessThan(10)
  expect(refused).toStrictEqual(refused.toSorted((left, right) => left - right))
  expect(new Set(refused).size).toBeGreaterThan(20)
  expect(Math.max(...refused)).toBeLessThanOrEqual(60)
  ask("/terminal")
  vi.advanceTimersToNextTimer()
  vi.advanceTimersToNextTimer()
  expect(begun).toContain("/terminal")
})

it("a request that has waited too long is refused, and a later one begins", () => {
  const { ask, begun, refused } = setUp()
  ask("/rpc", 2)
  vi.advanceTimersToNextTimer()
  clock.now += 13_000
  vi.advanceTimersToNextTimer()
  expect(begun).toHaveLength(1)
  expect(refused).toHaveLength(1)
  ask("/rpc")
  vi.advanceTimersToNextTimer()
  expect(begun).toHaveLength(2)
})
