import { existsSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { longest } from "./run/sequence.js"

describe("the files that a run begins with", () => {
  it.each(longest)("%s exists", (path) => {
    expect(existsSync(new URL(`../${path}`, import.meta.url))).toBe(true)
  })
})
