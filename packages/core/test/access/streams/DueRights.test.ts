import { sessionActor, StreamRight } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { DueRights } from "../../../src/access/streams/DueRights.js"
import type { Holding } from "../../../src/access/streams/RightJudgement.js"

const actor = sessionActor({ userId: Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001"), siteRoles: [], memberships: [] })

const aHolding = (key: string): Holding => {
  const own = { ...actor, apiKeyId: key }
  return {
    right: new StreamRight(own, "thing", () => Effect.void),
    end: () => undefined,
    actor: own,
    judgedAt: 0,
    hasFailed: false,
    place: -1,
    entries: []
  }
}

const dueRights = () => new DueRights(({ right }) => right.actor.apiKeyId)

const none: ReadonlySet<unknown> = new Set()

describe("rights that are due", () => {
  it("are judged first if a change may have ended them", () => {
    const due = dueRights()
    const [old, changed] = [aHolding("old"), aHolding("changed")]
    due.add(old, true)
    due.add(changed, false)
    expect([due.take(none)?.holdings, due.take(none)?.holdings, due.isEmpty]).toStrictEqual([[changed], [old], true])
  })

  it("are judged once with all others of their credential", () => {
    const due = dueRights()
    const [old, changed] = [aHolding("key"), aHolding("key")]
    for (const isStale of [true, false]) due.add(changed, isStale)
    due.add(old, true)
    expect(due.take(none)).toStrictEqual({ group: "key", holdings: [changed, old] })
    expect(due.isEmpty).toBe(true)
  })

  it("wait while their credential is judged, and are not judged once they are released", () => {
    const due = dueRights()
    const [busy, released] = [aHolding("busy"), aHolding("released")]
    due.add(busy, false)
    due.add(released, true)
    due.delete(released)
    expect([due.take(new Set(["busy"])), due.isEmpty, due.take(none)?.holdings]).toStrictEqual([undefined, false, [busy]])
  })
})
