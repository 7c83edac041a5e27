import { expect, it } from "vitest"
import { answers } from "../src/rules.js"

it("decides by role data alone", () => {
  expect(answers).toStrictEqual({ deleteOwn: true, readForeign: false })
})
