import { escapeMarkdown, escapeUrl, fromNow, notificationEventsById, plainTextOf, render } from "@atelier/core/notifications"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { longestTurn } from "../platform/longestTurn.js"

describe("a template", () => {
  it("inserts values, repeats sections for lists and leaves out empty ones", () => {
    const view = { labels: { name: "a*b" }, data: { items: [{ path: "/x" }, { path: "/y" }], none: [] } }
    const text =
      "{{labels.name}} {{{labels.name}}}{{#data.items}} {{path}}{{/data.items}}{{#data.none}}no{{/data.none}}{{^data.none}}!{{/data.none}}"
    expect(render(text, view, escapeMarkdown)).toBe("a\\*b a*b /x /y!")
  })

  it("shows nothing for a value that is missing, or that the prototype has", () => {
    expect(render("[{{labels.unknown}}{{labels.constructor}}{{toString}}]", { labels: {} }, escapeMarkdown)).toBe("[]")
  })

  it("does not evaluate what it inserts", () => {
    expect(render("{{{labels.text}}}", { labels: { text: "{{labels.text}}" } }, escapeMarkdown)).toBe("{{labels.text}}")
  })

  it("encodes values in URLs", () => {
    expect(render("/@{{name}}?x={{name}}", { name: "a b/&?" }, escapeUrl)).toBe("/@a%20b%2F%26%3F?x=a%20b%2F%26%3F")
  })

  it("closes each section that it opens, in every event", () => {
    for (const { body, title } of notificationEventsById.values()) {
      for (const text of [title, body]) expect(text.match(/\{\{[#^]/g)?.length ?? 0).toBe(text.match(/\{\{\//g)?.length ?? 0)
    }
  })
})

describe("a value in a Markdown text", () => {
  it("comes out of the plain text as it was, on one line", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab1 *_`[]()<>\\|~#-!") }), (value) => {
        const line = `x ${value} x`.replaceAll(/\s+/g, " ")
        expect(plainTextOf(escapeMarkdown(line))).toBe(line)
      })
    )
  })
})

describe("the plain text of Markdown", () => {
  it("has no marks, and keeps the addresses of links", () => {
    expect(plainTextOf("Some **bold**, _it_, `code`, a [link](https://example.com/x)\n\n- one\n- two\n  - nested")).toBe(
      "Some bold, it, code, a link (https://example.com/x)\n\none\ntwo\n    nested"
    )
  })

  it("keeps the numbers of lists and drops other markup", () => {
    const text =
      "1. first\n2. second\n\n> quote\n\n# Heading\n\n<b>raw</b> line\nnext line\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nblock\n```"
    expect(plainTextOf(text)).toBe("1. first\n2. second\n\nquote\n\nHeading\n\nraw line\nnext line\n\na b\n1 2\n\nblock")
  })

  it("takes time in proportion to the text", async () => {
    const render = async () => {
      for (const mark of ["*", "_", "`", "[", "<a", "\\", "|", "- ", "> ", " ", "- -"]) plainTextOf(mark.repeat(20_000))
    }
    expect(await longestTurn(render, { enough: 1_000 })).toBeLessThan(2_000)
  })
})

describe("a time ahead", () => {
  it.each([
    [3 * 24 * 3_600_000 - 1, "2 days from now"],
    [10 * 24 * 3_600_000 - 1, "1 week from now"],
    [3_600_000, "1 hour from now"],
    [59_999, "59 seconds from now"],
    [0, "now"]
  ])("of %i ms is %s", (millis, words) => {
    expect(fromNow(millis)).toBe(words)
  })
})
