import { setFlagsFromString } from "node:v8"
import { describe, expect, it, vi } from "vitest"
import { begin } from "../src/StartFlags.js"

vi.mock(import("node:v8"), async (original) => ({ ...(await original()), setFlagsFromString: vi.fn<(flags: string) => void>() }))

describe("the start of an agent", () => {
  it("optimizes no code until its first commands have run", () => {
    vi.useFakeTimers()
    try {
      const flags = vi.mocked(setFlagsFromString)
      begin()
      vi.advanceTimersByTime(4_999)
      expect(flags.mock.calls).toStrictEqual([["--no-opt"]])
      vi.advanceTimersByTime(1)
      expect(flags.mock.calls).toStrictEqual([["--no-opt"], ["--opt"]])
    } finally {
      vi.useRealTimers()
    }
  })
})
