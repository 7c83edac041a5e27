/** Texts in Markdown that were written to stop the page. */
import type { Token } from "marked"
import { describe, expect, it } from "vitest"
import { iconAt, isOfService, isOwnIcon } from "../src/app/addresses.js"
import { maximumDepth, tokensOf } from "../src/ui/markdownTokens.js"

const depthOf = (tokens: ReadonlyArray<Token>): number =>
  tokens.reduce((deepest, token) => Math.max(deepest, 1 + depthOf("tokens" in token ? (token.tokens ?? []) : [])), 0)

const kindsOf = (text: string) => tokensOf(text)?.map(({ type }) => type)

describe("a text in Markdown", () => {
  it("is read without what machines need", () => {
    expect(kindsOf("---\ntitle: x\n---\n# A\n\ntext **bold**\n\n- one\n  - two\n")).toStrictEqual([
      "heading",
      "space",
      "paragraph",
      "space",
      "list"
    ])
  })

  it("nests so deep and no deeper", () => {
    const tokens = tokensOf(`${"> ".repeat(6_000)}x`) ?? []
    expect(tokens.map(({ type }) => type)).toStrictEqual(["blockquote"])
    // The last one holds the rest as text
    expect(depthOf(tokens)).toBe(maximumDepth + 1)
  })

  it("is shown as it is written where reading it takes too long", () => {
    expect(tokensOf(`${">".repeat(6_000)} x\ny`)).toBeUndefined()
  })

  it.each([
    ["lists in a line", "- ".repeat(6_000)],
    ["lists in lists", Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- x\n`).join("")],
    ["emphasis", `${"*a ".repeat(3_000)}${"a* ".repeat(3_000)}`],
    ["links", `${"[".repeat(3_000)}x${"](y)".repeat(3_000)}`],
    ["links that do not end", "[a](".repeat(5_000)]
  ])("ends for %s", (_, text) => {
    const began = performance.now()
    expect(() => tokensOf(text)).not.toThrow()
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

describe("the address of a picture", () => {
  it("is one of this service however it is written", () => {
    const base = "https://here.example/console/"
    const isOwn = (address: string, service = "") => isOfService(`${service}${address}`, service, base)
    expect(
      ["/icon/a.svg", "//evil.example/p", "/\t/evil.example/p", "/\\evil.example/p", "/\n\\evil.example"].map((each) => isOwn(each))
    ).toStrictEqual([true, false, false, false, false])
    const isIcon = (address: string, service = "") => isOwnIcon(`${service}${address}`, service, base)
    expect(
      ["/icon/a.svg", "/icon/../logout", "/icon/%2e%2e/logout", "/@owner/web/apps/tool/", "/api/v2/users/me", "//evil.example/icon/p"].map(
        (each) => isIcon(each)
      )
    ).toStrictEqual([true, false, false, false, false, false])
    expect([isIcon("/icon/a.svg", "/mounted"), isIcon("/../icon/a.svg", "/mounted")]).toStrictEqual([true, false])
    expect([isOwn("//evil.example/p", "/mounted"), isOwn("/icon/a.svg", "https://api.example")]).toStrictEqual([true, true])
  })

  it.each([
    "javascript:alert(1)",
    " javascript:alert(1)",
    "https://elsewhere.example/a.png",
    "//elsewhere.example/a.png",
    "data:text/html,x",
    "x"
  ])("is not loaded at %j", (address) => expect(iconAt(address, "", "https://here.example/console/")).toBeUndefined())

  it("is loaded from the service, or from the address itself", () => {
    const icons = ["/icon/a.svg", "data:image/png;base64,AA==", "/emojis/1f4bb.png", ""].map((icon) =>
      iconAt(icon, "/mounted", "https://here.example/")
    )
    expect(icons).toStrictEqual([{ address: "/mounted/icon/a.svg" }, { address: "data:image/png;base64,AA==" }, { signs: "💻" }, undefined])
  })
})
