import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { codePoint } from "../../../../../test/records/codePoint.js"
import { safeRedirect } from "../../../src/server/request/safeRedirect.js"

describe("where a browser goes on after a login", () => {
  it("is a path of this service, with its query and fragment", () => {
    const places: Readonly<Record<string, string>> = {
      "": "/",
      "/": "/",
      "/templates?x=1&y=%2F#z": "/templates?x=1&y=%2F#z",
      templates: "/templates",
      "?x": "/?x",
      "https://evil/x": "/x",
      "https://evil": "/",
      "HTTPS://user:pw@evil/x?y#z": "/x?y#z",
      "//evil": "/evil",
      "///evil//x": "/evil//x",
      "/\\evil": "/evil",
      "\\\\evil": "/evil",
      "/\t/evil": "/evil",
      "\u0001//evil": "/evil",
      "/.//evil": "/evil",
      "/x/..//evil": "/evil",
      "javascript:alert(1)": "/",
      "mailto:a@b": "/",
      "data:text/html,x": "/"
    }
    expect(Object.fromEntries(Object.keys(places).map((text) => [text, safeRedirect(text)]))).toStrictEqual(places)
    expect(safeRedirect(`/${"x".repeat(3000)}`)).toBe("/")
  })

  it("never leaves this service, and can stand in a header", () => {
    const parts = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "//",
      ":",
      "@",
      "evil",
      "https:",
      "javascript:",
      "\t",
      "\n",
      "\r",
      "%2f",
      "?",
      "#",
      "é",
      "\ud800"
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(parts).map((all) => all.join("")),
          fc.string({ unit: codePoint })
        ),
        (text) => {
          const place = safeRedirect(text)
          expect(place).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
          expect(new URL(place, "https://here.test").origin).toBe("https://here.test")
        }
      ),
      { numRuns: 1000 }
    )
  })
})
