import { affordable } from "@atelier/core/workspaces"
import * as fc from "fast-check"
import { expect, it } from "vitest"

const credits = fc.integer({ min: 0, max: 9 })

it("is never exceeded by a build that raises or keeps the cost", () => {
  fc.assert(
    fc.property(credits, credits, credits, fc.option(credits), (budget, consumed, cost, previous) => {
      const isAffordable = affordable({ budget, consumed, cost, previous })
      if (isAffordable && (previous === null || cost >= previous)) expect(consumed + cost).toBeLessThanOrEqual(budget)
      if (previous !== null && cost < previous) expect(isAffordable).toBe(true)
      if (consumed + cost <= budget) expect(isAffordable).toBe(true)
    })
  )
})
