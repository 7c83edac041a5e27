import { sessionActor } from "@atelier/core/access"
import { describe, expect, it } from "@effect/vitest"
import { Uuid } from "@atelier/core/platform"
import * as ReadWithActor from "../../../src/access/actors/ReadWithActor.js"

const id = Uuid.Uuid.make("01a208e6-a7bd-7047-809d-1f6c24ed86d6")
const place = ReadWithActor.make<string>()
const anActor = () => sessionActor({ userId: id, siteRoles: [], memberships: [] })

describe("what was read with a credential", () => {
  it("is given once", () => {
    const actor = anActor()
    place.keep(actor, () => "read", 1000)
    expect([place.take(actor, 1001), place.take(actor, 1001)]).toStrictEqual(["read", undefined])
  })

  it("is not given to a stream that asks later than a second", () => {
    const actor = anActor()
    place.keep(actor, () => "read", 1000)
    expect(place.take(actor, 2001)).toBeUndefined()
  })

  it("is not given to a copy of the actor, which has other rights", () => {
    const actor = anActor()
    place.keep(actor, () => "read", 1000)
    expect([place.take({ ...actor }, 1000), place.take(actor, 1000)]).toStrictEqual([undefined, "read"])
  })

  it("is not kept by the actor of a stream", () => {
    const actor = anActor()
    place.keep(actor, () => "read", 1000)
    ReadWithActor.forget(actor)
    expect(place.take(actor, 1000)).toBeUndefined()
  })

  it("is not given to another actor of the same user", () => {
    place.keep(anActor(), () => "read", 1000)
    expect(place.take(anActor(), 1000)).toBeUndefined()
  })
})
