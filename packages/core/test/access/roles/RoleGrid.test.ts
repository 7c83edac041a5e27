import { describe, expect, it } from "vitest"
import { allScope, decide, expandScopes, subjectOf, unrestrictedAllowList } from "../../../src/access/index.js"
import { gridRoles, gridRows, tableAllows } from "./grid.js"

const places = { self: "u1", other: "u2", here: "org1", elsewhere: "org2" }
const rows = gridRows(places)

describe("each role alone", () => {
  it.each(gridRoles(places.here))("allows what the table of $title says, and nothing else", (held) => {
    const subject = subjectOf({
      kind: "user",
      id: places.self,
      roles: [{ role: held.role, organizationId: held.organizationId }],
      groups: [],
      scope: expandScopes([allScope]),
      allowList: unrestrictedAllowList,
      options: {}
    })
    const wrong = rows.filter((row) => decide(subject, row.action, row.object) !== tableAllows(held, row))
    expect(wrong).toStrictEqual([])
    expect(rows.length).toBeGreaterThan(400)
  })
})
