import { describe, expect, it } from "vitest"
import { Name } from "../../../src/platform/index.js"

describe("a name", () => {
  it.each(["new", "create"])("is not %s, which paths use", (name) => {
    expect(Name.violation(name)).toBe(`must not be "${name}"`)
  })

  it.each(["New", "CREATE", "new2", "create-x"])("may be %s, which no path uses", (name) => {
    expect(Name.violation(name)).toBeUndefined()
  })
})
