import { matchesRedirectUri, redirectUriViolation, withParameters } from "@atelier/core/oauth2"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { webUrl } from "../../../../../test/records/webUrl.js"

describe("a redirect URI", () => {
  it.each([
    ["http://localhost:1234/a", "http://localhost:9/a", true],
    ["http://[::1]:1234/a", "http://[::1]/a", true],
    ["http://127.0.0.1/a", "http://127.0.0.1:8080/b", false],
    ["http://127.0.0.1/a", "http://localhost/a", false],
    ["https://127.0.0.1:1/a", "https://127.0.0.1:2/a", false],
    ["https://CLIENT.example", "https://client.example/", true],
    ["https://client.example:443/a", "https://client.example/a", true],
    ["vscode://vendor.editor/callback", "vscode://vendor.editor/callback", true],
    ["vscode://vendor.editor/callback", "vscode://vendor.other/callback", false]
  ])("registered as %s and given as %s matches: %s", (registered, given, matches) => {
    expect(matchesRedirectUri(registered, given)).toBe(matches)
  })

  it("that matches has the scheme, the host and the path of the registered one", () => {
    const registered = "https://client.example/callback"
    const text = fc.oneof(webUrl, fc.string(), fc.constant(registered))
    fc.assert(
      fc.property(text, fc.string({ maxLength: 10 }), (given, suffix) => {
        for (const uri of [given, `${given}${suffix}`, `${suffix}${given}`]) {
          if (!matchesRedirectUri(registered, uri)) continue
          const { host, pathname, protocol, search } = new URL(uri)
          expect([protocol, host, pathname, search]).toStrictEqual(["https:", "client.example", "/callback", ""])
        }
      })
    )
  })

  it("of any text is judged without an exception", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("public", "confidential"), (text, type) => {
        if (redirectUriViolation(text, type) === undefined) expect(URL.canParse(text)).toBe(true)
      })
    )
  })

  it("keeps its own query in front of what is added", () => {
    expect(withParameters("https://a/?x=1", { code: "a b", state: undefined })).toBe("https://a/?x=1&code=a+b")
    expect(withParameters("com.example:/a", { code: "c" })).toBe("com.example:/a?code=c")
  })
})
