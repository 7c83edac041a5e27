import { Audit, Audited } from "@atelier/core/audit"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"

const now = Timestamp.fromMillis(1.8e12)
const absent = { Time: Timestamp.never, Valid: false }

interface Robot {
  readonly name: string
  readonly serial: string
  readonly built_at: Timestamp.Timestamp
  readonly retired_at: Timestamp.Timestamp | null
  readonly motto: string | null
  readonly legs_mm: number
  readonly tags: ReadonlyArray<string>
  readonly parts: ReadonlyArray<string>
  readonly pin?: string
  readonly key_hash?: string
}

const fields = {
  name: Audited.audited,
  serial: Audited.ignored,
  built_at: Audited.auditedTime,
  retired_at: Audited.auditedTimeOrNone,
  motto: Audited.auditedTextOrNone,
  legs_mm: Audited.shownAs("legs", (length: number) => length * 1000),
  tags: Audited.auditedList,
  parts: Audited.shown((parts: ReadonlyArray<string>) => `map[${parts.join(" ")}]`, "map[]"),
  pin: Audited.secret,
  key_hash: Audited.byteSecret
} as const

const robots = Audited.auditedResource<Robot>({ type: "task", endsRightsOf: "none", fields })

const robot: Robot = { name: "ann", serial: "1", built_at: now, retired_at: null, motto: null, legs_mm: 0, tags: [], parts: [] }

const { serial: _, ...withoutSerial } = fields

// @ts-expect-error a field of the record has no rule
const lacking = Audited.auditedResource<Robot>({ type: "task", endsRightsOf: "none", fields: withoutSerial })

// @ts-expect-error a field that a record may leave out has no rule
const lackingOptional = Audited.auditedResource<{ readonly pin?: string }>({ type: "task", endsRightsOf: "none", fields: {} })

// @ts-expect-error no field of the record has the name
const misspelt = Audited.auditedResource<Robot>({ type: "task", endsRightsOf: "none", fields: { ...fields, motte: Audited.ignored } })

// @ts-expect-error a time is shown like a text
const untimely = Audited.auditedResource<Robot>({ type: "task", endsRightsOf: "none", fields: { ...fields, built_at: Audited.audited } })

const maybe = { ...fields, retired_at: Audited.auditedTime }
// @ts-expect-error the record may not have the time
const alwaysTimed = Audited.auditedResource<Robot>({ type: "task", endsRightsOf: "none", fields: maybe })

const subject: Audit.Subject<Robot> = { action: "write", resource: robots, id: Uuid.nil, target: "" }
const { motto: __, ...withoutMotto } = robot

// @ts-expect-error the record of a change lacks a field
const partial = Audit.record({ ...subject, status_code: 200, before: robot, after: withoutMotto })

describe("the diff of an entry", () => {
  it("has a declaration of every field", () => {
    expect([lacking, lackingOptional, misspelt, untimely, alwaysTimed, partial]).toHaveLength(6)
  })

  it("leaves out fields that are ignored or the same", () => {
    expect(robots.diff(robot, { ...robot, serial: "2" })).toStrictEqual({})
  })

  it("compares a creation and a deletion with empty values", () => {
    const whole = { ...robot, legs_mm: 2, retired_at: now, motto: "go", parts: ["arm"] }
    expect(robots.diff(undefined, whole)).toStrictEqual({
      name: { old: "", new: "ann", secret: false },
      built_at: { old: Timestamp.never, new: now, secret: false },
      retired_at: { old: absent, new: { Time: now, Valid: true }, secret: false },
      motto: { old: "null", new: "go", secret: false },
      legs: { old: 0, new: 2000, secret: false },
      tags: { new: [], secret: false },
      parts: { old: "map[]", new: "map[arm]", secret: false }
    })
    expect(robots.diff(robot, undefined)).toStrictEqual({
      name: { old: "ann", new: "", secret: false },
      built_at: { old: now, new: Timestamp.never, secret: false },
      tags: { old: [], secret: false }
    })
  })

  it("shows only that a secret has changed", () => {
    expect(robots.diff({ ...robot, pin: "1", key_hash: "1" }, { ...robot, pin: "2", key_hash: "2" })).toStrictEqual({
      pin: { old: "", new: "", secret: true },
      key_hash: { secret: true }
    })
  })

  it("shows a time and a text that may be absent", () => {
    expect(robots.diff(robot, { ...robot, retired_at: now, motto: "go" })).toStrictEqual({
      retired_at: { old: absent, new: { Time: now, Valid: true }, secret: false },
      motto: { old: "null", new: "go", secret: false }
    })
  })
})
