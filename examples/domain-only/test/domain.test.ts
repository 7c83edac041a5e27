import { Effect } from "effect"
import { expect, it } from "vitest"
import { answers } from "../src/rules.js"
import { defaultOrganization, renamesAllowed } from "../src/services.js"

it("decides by role data alone", () => {
  expect(answers).toStrictEqual({ deleteOwn: true, readForeign: false })
})

it("runs use cases on a store in memory", async () => {
  expect(await Effect.runPromise(defaultOrganization)).toMatchObject({ name: "default", is_default: true })
  expect(await Effect.runPromise(renamesAllowed)).toBe(false)
})
