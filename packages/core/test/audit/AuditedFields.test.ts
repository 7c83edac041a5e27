import { absentText, auditedTime, diff } from "@atelier/core/audit"
import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"

const now = Timestamp.fromMillis(1.8e12)
const absent = { Time: Timestamp.never, Valid: false }

describe("the diff of an entry", () => {
  it("has no old lists on creation and no new ones on deletion", () => {
    const member = { username: "ann", roles: [] }
    expect(diff("organization_member", undefined, member)).toStrictEqual({
      username: { old: "", new: "ann", secret: false },
      roles: { new: [], secret: false }
    })
    expect(diff("organization_member", member, undefined)).toStrictEqual({
      username: { old: "ann", new: "", secret: false },
      roles: { old: [], secret: false }
    })
    expect(diff("custom_role", undefined, { org_permissions: ["a.b"] })).toStrictEqual({
      org_permissions: { old: [], new: ["a.b"], secret: false }
    })
  })

  it("shows a time that may be absent with whether it is there", () => {
    const of = (at: Timestamp.Timestamp | null) => ({ dormant_at: auditedTime(at) })
    expect(diff("workspace", of(null), of(now))).toStrictEqual({
      dormant_at: { old: absent, new: { Time: now, Valid: true }, secret: false }
    })
    expect(diff("workspace", undefined, of(null))).toStrictEqual({})
  })

  it("shows a text that may be absent as null", () => {
    const of = (autostart_schedule: string) => ({ autostart_schedule })
    expect(diff("workspace", of(absentText), of("CRON_TZ=UTC 30 9 * * *"))).toMatchObject({ autostart_schedule: { old: "null" } })
    expect(diff("workspace", undefined, of(absentText))).toStrictEqual({})
    expect(diff("workspace", undefined, of("CRON_TZ=UTC 30 9 * * *"))).toMatchObject({ autostart_schedule: { old: "null" } })
  })

  it("shows the ACL of a template as one text", () => {
    expect(diff("template", undefined, { user_acl: "map[]", group_acl: "map[g:[read use]]" })).toStrictEqual({
      group_acl: { old: "map[]", new: "map[g:[read use]]", secret: false }
    })
  })
})
