import { sessionActor, StreamRight } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type DueGroup, DueRights } from "../../../src/access/streams/DueRights.js"
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

const dueRights = (concurrency = 8) => new DueRights(({ right }) => right.actor.apiKeyId, concurrency)

const holdingsOf = (taken: DueGroup | undefined) => taken && [...taken.holdings]

const taken = (due: DueRights): DueGroup => {
  const next = due.take()
  if (next === undefined) throw new Error("none is due")
  return next
}

describe("rights that are due", () => {
  it("are judged first if a change may have ended them", () => {
    const due = dueRights()
    const [old, changed] = [aHolding("old"), aHolding("changed")]
    due.add(old, true)
    due.add(changed, true)
    due.add(changed, false)
    expect([due.take(), due.take(), due.take()].map(holdingsOf)).toStrictEqual([[changed], [old], undefined])
  })

  it("are judged once with all others of their credential", () => {
    const due = dueRights()
    const [old, changed] = [aHolding("key"), aHolding("key")]
    for (const isStale of [true, false]) due.add(changed, isStale)
    due.add(old, true)
    expect([due.take(), due.take()].map(holdingsOf)).toStrictEqual([[changed, old], undefined])
  })

  it("wait while their credential is judged, and are not judged once they are released", () => {
    const due = dueRights()
    const [busy, released] = [aHolding("busy"), aHolding("released")]
    due.add(busy, true)
    const judged = taken(due)
    due.add(busy, false)
    due.add(released, true)
    due.delete(released)
    expect([due.isUnderway(busy), due.take(), due.leave(judged), due.isUnderway(busy)]).toStrictEqual([true, undefined, true, false])
    const again = taken(due)
    expect([holdingsOf(again), due.leave(again)]).toStrictEqual([[busy], false])
  })

  it("come before those that waited longer if a change may have ended them", () => {
    const due = dueRights(1)
    const [first, second, changed] = [aHolding("first"), aHolding("second"), aHolding("changed")]
    due.add(first, true)
    due.add(second, true)
    const judged = taken(due)
    due.add(changed, false)
    expect([holdingsOf(judged), due.take(), due.leave(judged), holdingsOf(due.take())]).toStrictEqual([[first], undefined, true, [changed]])
  })

  it("have places of their own if they could not be judged", () => {
    const due = dueRights(1)
    const [failing, other, third] = [aHolding("failing"), aHolding("other"), aHolding("third")]
    due.add(failing, true)
    const judged = taken(due)
    due.add(failing, false)
    failing.hasFailed = true
    due.leave(judged)
    due.add(third, true)
    due.add(other, false)
    expect([due.take(), due.take(), due.take()].map(holdingsOf)).toStrictEqual([[failing], [other], undefined])
  })

  it("are taken beside one of their kind, in its place", () => {
    const due = dueRights(1)
    const holdings = ["agent 1", "agent 2", "agent 3", "key", "agent 4"].map(aHolding)
    for (const holding of holdings) due.add(holding, true)
    const isAgent = ({ group }: DueGroup) => `${group}`.startsWith("agent")
    const first = taken(due)
    const beside = due.takeBeside(first, isAgent, 8)
    expect([first, ...beside].map(({ group }) => group)).toStrictEqual(["agent 1", "agent 2", "agent 3"])
    expect([due.take(), ...holdings.map((holding) => due.isUnderway(holding))]).toStrictEqual([undefined, true, true, true, false, false])
    expect([due.leave(first, beside), ...holdings.map((holding) => due.isUnderway(holding))]).toStrictEqual([true, ...Array(5).fill(false)])
    const next = taken(due)
    expect([next.group, due.takeBeside(next, ({ group }) => group === "agent 4", 0), due.take()]).toStrictEqual(["key", [], undefined])
  })

  it("are judged alone if they could not be judged", () => {
    const due = dueRights()
    const holdings = ["first", "second"].map(aHolding)
    for (const holding of holdings) {
      holding.hasFailed = true
      due.add(holding, true)
    }
    expect(due.takeBeside(taken(due), () => true, 8)).toStrictEqual([])
  })

  it("are judged although changes of others do not end", () => {
    const due = dueRights(1)
    const old = aHolding("old")
    due.add(old, true)
    const order = Array.from({ length: 8 }, (_, index) => {
      due.add(aHolding(`changed ${index}`), false)
      const judged = taken(due)
      due.leave(judged)
      return judged.group
    })
    expect(order.indexOf("old")).toBe(3)
  })
})
