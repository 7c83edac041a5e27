import { describe, expect, it, vi } from "vitest"
import { makeBegin } from "../src/StartFlags.js"

describe("the start of an agent", () => {
  it("optimizes no code until the first commands have run, nor when its workspace is handed over", () => {
    vi.useFakeTimers()
    try {
      const flags = vi.fn<(given: string) => void>()
      const begin = makeBegin(flags)
      begin()
      vi.advanceTimersByTime(4_999)
      expect(flags.mock.calls).toStrictEqual([["--no-opt"]])
      vi.advanceTimersByTime(1)
      expect(flags.mock.calls).toStrictEqual([["--no-opt"], ["--opt"]])

      // A hand-over soon after
      begin()
      vi.advanceTimersByTime(3_000)
      begin()
      flags.mockClear()
      vi.advanceTimersByTime(4_999)
      expect(flags.mock.calls).toStrictEqual([])
      vi.advanceTimersByTime(1)
      expect(flags.mock.calls).toStrictEqual([["--opt"]])
    } finally {
      vi.useRealTimers()
    }
  })
})
