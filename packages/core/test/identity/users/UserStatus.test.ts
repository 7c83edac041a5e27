import { statusTransitions, type UserEvent, type UserStatus } from "@atelier/core/identity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const statuses: ReadonlyArray<UserStatus> = ["active", "dormant", "suspended"]
const events: ReadonlyArray<UserEvent> = ["see", "lapse", "activate", "suspend"]
const history = fc.array(fc.constantFrom(...events))

/** The status after an event; the same where it is refused. */
const apply = (status: UserStatus, event: UserEvent): UserStatus => {
  const allowed: Partial<Record<UserEvent, UserStatus>> = statusTransitions[status]
  return allowed[event] ?? status
}

describe("a user's status", () => {
  it("is that of the table, and no other event changes it", () => {
    expect(statuses.map((status) => events.map((event) => apply(status, event)))).toStrictEqual([
      ["active", "dormant", "active", "suspended"],
      ["active", "dormant", "active", "suspended"],
      ["suspended", "suspended", "active", "suspended"]
    ])
  })

  it("stays suspended from a suspension to an activation", () => {
    fc.assert(
      fc.property(fc.constantFrom(...statuses), history, history, (from, before, after) => {
        const suspended = [...before, "suspend" as const].reduce(apply, from)
        const last = after.filter((event) => event !== "activate").reduce(apply, suspended)
        expect(last).toBe("suspended")
        expect(apply(last, "activate")).toBe("active")
      })
    )
  })

  it("is dormant only after a lapse, and never after a suspension", () => {
    fc.assert(
      fc.property(history, (happened) => {
        const last = happened.findLast((event) => event !== "lapse")
        const isDormant = happened.reduce(apply, "active") === "dormant"
        if (isDormant) expect(happened.at(-1)).toBe("lapse")
        if (last === "suspend") expect(isDormant).toBe(false)
      })
    )
  })
})
