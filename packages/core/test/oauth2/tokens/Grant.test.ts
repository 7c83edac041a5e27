import { describe, expect, it } from "vitest"
import { afterEvent, type GrantEvent, type GrantStatus } from "@atelier/core/oauth2"

const statuses: ReadonlyArray<GrantStatus> = ["issued", "active", "revoked", "expired"]
const events: ReadonlyArray<GrantEvent> = ["redeem", "mismatch", "replay", "rotate", "reuse", "revoke", "expire"]

describe("a grant", () => {
  it("moves as the table says, and is refused every other event", () => {
    const moves = statuses.flatMap((status) =>
      events.flatMap((event) => {
        const next = afterEvent(status, event)
        return next === undefined ? [] : [`${status} ${event} ${next}`]
      })
    )
    expect(moves).toStrictEqual([
      "issued redeem active",
      "issued mismatch revoked",
      "issued revoke revoked",
      "issued expire expired",
      "active replay revoked",
      "active rotate active",
      "active reuse revoked",
      "active revoke revoked",
      "active expire expired"
    ])
  })
})
