import { expect, it } from "@effect/vitest"
import { changedRecord } from "../../src/groups/GroupAudit.js"
import type { Group } from "../../src/groups/Group.js"
import { Uuid } from "../../src/platform/texts/Uuid.js"

const idOf = (number: number) => Uuid.make(`00000000-0000-4000-8000-00000000000${number}`)

const group: Group = {
  id: idOf(8),
  organization_id: idOf(9),
  name: "writers",
  display_name: "",
  avatar_url: "",
  quota_allowance: 0,
  source: "user"
}

const members = (...numbers: ReadonlyArray<number>) => numbers.map((number) => ({ user_id: idOf(number), group_id: group.id }))

it("the entry of a change shows the members that the change leaves", () => {
  const before = { ...group, members: members(1, 2) }
  const renamed = { ...group, name: "editors" }
  expect(changedRecord(before, renamed, { added: [idOf(3)], removed: [idOf(1)] })).toStrictEqual({ ...renamed, members: members(2, 3) })
})
