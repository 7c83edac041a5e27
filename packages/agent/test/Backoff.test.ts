import { describe, expect, it } from "vitest"
import { longestPause } from "../src/Backoff.js"

const minute = 60_000

describe("the pause between attempts to connect", () => {
  const now = 10 * minute
  const attempts = { now, launchedAt: undefined, lostAt: undefined, isHurried: false }

  it("is short until the first connection, for a minute", () => {
    expect(longestPause({ ...attempts, launchedAt: now - minute + 1 })).toBe(1_000)
    expect(longestPause({ ...attempts, launchedAt: now - minute })).toBe(10_000)
  })

  it("is short for half a minute after a lost connection", () => {
    expect(longestPause({ ...attempts, lostAt: now })).toBe(2_000)
    expect(longestPause({ ...attempts, lostAt: now - minute / 2 })).toBe(10_000)
    expect(longestPause(attempts)).toBe(10_000)
  })

  it("is short when the agent ends", () => {
    expect(longestPause({ ...attempts, lostAt: now - minute, isHurried: true })).toBe(1_000)
  })
})
