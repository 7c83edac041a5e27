import { expect, it } from "vitest"
import { headLines, requestHead } from "../../src/apps/requestHead.js"

it("a head holds no text that would begin another line", () => {
  expect(requestHead("GET", "/a?b", headLines(["X-A", "\xe9\t b"]))).toBe(
    "GET /a?b HTTP/1.1\r\nX-A: \xe9\t b\r\nConnection: keep-alive\r\n\r\n"
  )
  // The last byte of U+010A is that of a line feed
  for (const text of ["a\r\nb", "a\nb", "a\rb", "a\0b", "a\u010ab", "a\u010db"]) {
    expect(requestHead("GET", "/", headLines(["X-A", text]))).toBeUndefined()
    expect(requestHead("GET", "/", headLines([text, "a"]))).toBeUndefined()
    expect(requestHead("GET", `/${text}`, headLines([]))).toBeUndefined()
  }
})
