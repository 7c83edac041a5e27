import { maximumOutput, sanitize, sourceName, textLine, externalSource } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { codePoint } from "../../../../../test/records/codePoint.js"

const bytes = (text: string): number => new TextEncoder().encode(text).length

describe("a line that an agent sends", () => {
  it("is cut to its first characters, and counts as it was sent", () => {
    expect(sanitize("x".repeat(2000))).toStrictEqual({ output: "x".repeat(1024), bytes: 2000 })
    expect(sanitize("😀".repeat(2000))).toStrictEqual({ output: "😀".repeat(1024), bytes: 8000 })
  })

  it("holds nothing that cannot be stored", () => {
    expect(sanitize("a\0b")).toStrictEqual({ output: "a❌b", bytes: 5 })
    expect(sanitize("\ud800!")).toStrictEqual({ output: "❌!", bytes: 4 })
  })

  it("is well-formed, short enough and counted in UTF-8 for any input", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof(fc.string({ unit: codePoint }), fc.constantFrom("\0", "\ud800", "\udc00", "é", "€")) }),
        (text) => {
          const repeated = text.repeat(5)
          const { bytes: counted, output } = sanitize(repeated)
          const whole = repeated.replaceAll(/\0|\p{Surrogate}/gu, "❌")
          expect(counted).toBe(bytes(whole))
          expect(Array.from(output).length).toBeLessThanOrEqual(maximumOutput)
          expect(output).not.toMatch(/\0|\p{Surrogate}/u)
          expect(whole.startsWith(output)).toBe(true)
        }
      )
    )
  })
})

describe("a log source's name", () => {
  it("has at most 127 characters", () => {
    expect(sourceName("n".repeat(200))).toBe("n".repeat(127))
  })
})

describe("a line as text", () => {
  const log = {
    id: 1,
    created_at: Timestamp.Timestamp.make("2026-01-31T23:59:59.999Z"),
    output: "hello",
    level: "warn" as const,
    source_id: externalSource.id
  }

  it("says when, how loud and where from", () => {
    expect(textLine(log, "main", "Startup Script")).toBe("2026-01-31T23:59:59Z [warn] [agent.main|Startup Script] hello\n")
    expect(textLine(log, "", "")).toBe("2026-01-31T23:59:59Z [warn] [agent] hello\n")
  })
})
