import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"

describe("an instant that a client writes", () => {
  it.each([
    ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000Z"],
    ["2026-01-31t23:59:59.1239z", "2026-01-31T23:59:59.123Z"],
    ["2026-01-31T23:59:59+01:30", "2026-01-31T22:29:59.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
  ])("%s is %s", (text, timestamp) => {
    expect(Timestamp.parse(text)).toBe(timestamp)
  })

  it.each([
    "2026-01-31",
    "2026-01-31T23:59:59",
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T24:00:01Z",
    "0000-06-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01"
  ])("cannot be %s", (text) => {
    expect(Timestamp.parse(text)).toBeUndefined()
  })
})
