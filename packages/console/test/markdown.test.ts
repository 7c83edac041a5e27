/** Texts in Markdown that were written to stop the page. */
import type { Token } from "marked"
import { describe, expect, it } from "vitest"
import { longestTurn } from "../../core/test/platform/longestTurn.js"
import { maximumDepth, tokensOf } from "../src/ui/text/markdownTokens.js"

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
  ])("ends for %s", async (_, text) => {
    expect(await longestTurn(async () => tokensOf(text), { enough: 1_000 })).toBeLessThan(5_000)
  })
})
