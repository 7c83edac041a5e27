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
  const turns = (count: number): void => {
    for (let turn = 0; turn < count; turn++) vi.advanceTimersToNextTimer()
  }
  return { ask, begun, refused, turns }
}

it("one request begins in each turn of the event loop", () => {
  const { ask, begun, turns } = setUp()
  ask("/rpc", 3)
  // A turn for those that arrive
  turns(1)
  expect(begun).toHaveLength(0)
  turns(1)
  expect(begun).toHaveLength(1)
  turns(1)
  expect(begun).toHaveLength(2)
})

it("a request by itself begins in the next turn", () => {
  const { ask, begun, turns } = setUp()
  ask("/rpc")
  turns(1)
  expect(begun).toHaveLength(1)
})

it("requests that arrive have up to sixteen turns before one begins", () => {
  const { ask, begun, turns } = setUp()
  const begunAfter = Array.from({ length: 35 }, () => {
    ask("/rpc")
    turns(1)
    return begun.length
  })
  expect([0, 1, 16, 17, 33, 34].map((turn) => begunAfter[turn])).toStrictEqual([1, 1, 1, 2, 2, 3])
})

it("a request does not wait for those of another path", () => {
  const { ask, begun, turns } = setUp()
  ask("/rpc", 100)
  ask("/terminal")
  turns(3)
  expect(begun).toStrictEqual(["/rpc", "/terminal"])
})

it("requests that would wait too long are told to come again one after the other", () => {
  const { ask, begun, refused, turns } = setUp()
  ask("/rpc", 10_000)
  expect(refused.length).toBeGreaterThan(5_000)
  expect(refused[0]).toBeLessThan(10)
  expect(refused).toStrictEqual(refused.toSorted((left, right) => left - right))
  expect(new Set(refused).size).toBeGreaterThan(10)
  expect(Math.max(...refused)).toBeLessThanOrEqual(60)
  ask("/terminal")
  turns(3)
  expect(begun).toContain("/terminal")
})

it("a request that has waited too long is refused, and a later one begins", () => {
  const { ask, begun, refused, turns } = setUp()
  ask("/rpc", 2)
  turns(2)
  clock.now += 13_000
  turns(1)
  expect(begun).toHaveLength(1)
  expect(refused).toHaveLength(1)
  ask("/rpc")
  turns(1)
  expect(begun).toHaveLength(2)
})
