import { describe, expect, it } from "@effect/vitest"
import { policyAdditions, withAdditions } from "../../src/pages/contentSecurityPolicy.js"

const policy = "default-src 'none'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'"

const added = (...entries: ReadonlyArray<string>) => withAdditions(policy, policyAdditions(entries))

describe("additions to the Content-Security-Policy", () => {
  it("join the sources of a directive, end its 'none', and bring directives of their own", () => {
    expect(
      added(
        "IMG-SRC  https://b.example.com https://c.example.com",
        "frame-ancestors https://portal.example.com",
        "frame-src https://a.example.com"
      )
    ).toBe(
      "default-src 'none'; img-src 'self' data: https://b.example.com https://c.example.com; form-action 'none'; " +
        "frame-ancestors https://portal.example.com; frame-src https://a.example.com"
    )
  })

  it("count once for each directive: the last one does", () => {
    expect(added("img-src https://a.example.com", "img-src https://b.example.com")).toContain("img-src 'self' data: https://b.example.com;")
  })

  it.each([
    "",
    "img-src",
    "img-src x; script-src *",
    "img-src x, default-src *",
    "img-src x\r\nset-cookie: a=b",
    "img_src x",
    "img-src https://\u{e4}.example"
  ])("are passed over where they are no directive with sources: %j", (entry) => {
    expect(added(entry)).toBe(policy)
  })
})
