import { Timestamp } from "@atelier/core/platform"
import { keepLogs, logLine, maximumLogsSize, type NewJobLog, overflowNotice } from "@atelier/core/provisioning"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const aRow = (output: string, stage = "Planning"): NewJobLog => ({
  created_at: Timestamp.fromMillis(0),
  log_source: "provisioner",
  log_level: "info",
  stage,
  output
})

const empty = { length: 0, overflowed: false }

describe("a job's log", () => {
  it("keeps 1,024 characters of a row and 128 of its stage, and counts all of them", () => {
    const { length, rows } = keepLogs([aRow("x".repeat(2_000), "s".repeat(200))], empty)
    expect([rows[0]?.output.length, rows[0]?.stage.length, length]).toStrictEqual([1_024, 128, 2_000])
  })

  it("cuts between characters, and keeps no NUL", () => {
    const { rows } = keepLogs([aRow("🙂".repeat(600)), aRow("x".repeat(1_023) + "🙂"), aRow("a\0b")], empty)
    expect(rows.map(({ output }) => encodeURIComponent(output) !== "")).toStrictEqual([true, true, true])
    expect([rows[1]?.output.length, rows[2]?.output]).toStrictEqual([1_023, "a\uFFFDb"])
  })

  it("ends with a notice where it would pass its limit, and keeps nothing after it", () => {
    const first = keepLogs([aRow("a".repeat(maximumLogsSize - 100)), aRow("b".repeat(200)), aRow("c")], empty)
    expect(first.overflowed).toBe(true)
    expect(first.rows.at(-1)).toMatchObject({ output: overflowNotice, log_level: "warn", log_source: "provisioner", stage: "Planning" })
    expect(first.rows.length).toBe(2)
    expect(keepLogs([aRow("d")], first).rows).toStrictEqual([])
  })

  it("counts the provisioner's empty lines, so that they end too", () => {
    const kept = keepLogs([aRow(""), { ...aRow(""), log_source: "provisioner_daemon" }, aRow("")], empty)
    expect([kept.rows.length, kept.length]).toStrictEqual([3, 2])
  })

  it("never passes its limit, for any batches", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 300_000 }), { maxLength: 12 }), (sizes) => {
        const whole = keepLogs(
          sizes.map((size) => aRow("x".repeat(size))),
          empty
        )
        let state: { readonly length: number; readonly overflowed: boolean } = empty
        let rows = 0
        for (const size of sizes) {
          const kept = keepLogs([aRow("x".repeat(size))], state)
          rows += kept.rows.length
          state = kept
        }
        expect(whole.length).toBeLessThanOrEqual(maximumLogsSize)
        expect([state.length, state.overflowed, rows]).toStrictEqual([whole.length, whole.overflowed, whole.rows.length])
      })
    )
  })

  it("is a line of text per row", () => {
    expect(logLine(aRow("hello"))).toBe("1970-01-01T00:00:00.000Z [info] [provisioner|Planning] hello\n")
  })
})
