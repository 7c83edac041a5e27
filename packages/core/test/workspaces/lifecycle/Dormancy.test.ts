import { Timestamp } from "@atelier/core/platform"
import { asleep, deletingAt, extensionViolation, isDormant, type Workspace, woken } from "@atelier/core/workspaces"
import { describe, expect, it } from "vitest"

const at = (text: string): Timestamp.Timestamp => Timestamp.fromMillis(Date.parse(text))
const now = at("2026-05-04T10:00:00Z")
const template = { time_til_dormant_autodelete_ms: 86_400_000, autostart_block_days_of_week: 0 }

// The rules read nothing else of a workspace
const workspace = {
  autostart_schedule: "0 9 * * *",
  next_start_at: at("2026-05-05T09:00:00Z"),
  last_used_at: at("2026-01-01T00:00:00Z"),
  dormant_at: null,
  deleting_at: null
} as Workspace

describe("a workspace", () => {
  it("becomes dormant with its last use, no next start and its day of deletion", () => {
    expect(asleep(workspace, template, now)).toStrictEqual({
      ...workspace,
      dormant_at: now,
      deleting_at: at("2026-05-05T10:00:00Z"),
      next_start_at: null
    })
  })

  it("is not deleted where its template deletes none", () => {
    expect(deletingAt(now, { ...template, time_til_dormant_autodelete_ms: 0 })).toBeNull()
  })

  it("wakes in use and with its next start", () => {
    const later = at("2026-05-10T12:00:00Z")
    const again = woken(asleep(workspace, template, now), template, later)
    expect(isDormant(again)).toBe(false)
    expect(again).toStrictEqual({ ...workspace, last_used_at: later, next_start_at: at("2026-05-11T09:00:00Z") })
  })
})

describe("a new deadline", () => {
  const input = { now, completed: at("2026-05-04T09:00:00Z"), max_deadline: at("2026-05-04T20:00:00Z") }

  it.each([
    ["2026-05-04T10:28:59.999Z", false],
    ["2026-05-04T10:29:00Z", true],
    ["2026-05-04T20:00:00Z", true],
    ["2026-05-04T20:00:00.001Z", false]
  ])("may be %s: %s", (wanted, allowed) => {
    expect(extensionViolation({ ...input, wanted: at(wanted) }) === undefined).toBe(allowed)
  })

  it("may be any later time without a required stop", () => {
    expect(extensionViolation({ ...input, max_deadline: null, wanted: at("2036-01-01T00:00:00Z") })).toBeUndefined()
  })
})
