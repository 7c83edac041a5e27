import { describe, expect, it } from "vitest"
import { isUnsafeAddress, pictureViolation, withoutTrailingSlashes } from "../../../src/platform/texts/Address.js"

describe("the address of a picture", () => {
  it.each(["", "/icon/code.svg", "/emojis/1f4bb.png", "https://example.com/a.png", "HTTP://example.com"])("may be %j", (address) => {
    expect(pictureViolation(address, 100)).toBeUndefined()
  })

  it.each([
    "icon.png",
    "//evil.example/a.png",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "data:image/svg+xml,<svg/>",
    "blob:https://example.com/1",
    "file:///etc/passwd",
    "ftp://example.com/a.png",
    "https:example.com",
    " https://example.com",
    "https://exa\nmple.com"
  ])("may not be %j", (address) => {
    expect(pictureViolation(address, 100)).toBe("must be an http or https address, or a path that begins with /")
  })

  it("has a length", () => {
    expect(pictureViolation(`/${"x".repeat(100)}`, 100)).toBe("must be at most 100 characters")
  })
})

describe("an unsafe address", () => {
  it.each([
    "javascript:alert(1)",
    "JavaScript:x",
    "\u0001 java\nscript:x",
    "data:text/html,x",
    "vbscript:x",
    "blob:x",
    "file:///etc/passwd"
  ])("is %j", (address) => expect(isUnsafeAddress(address)).toBe(true))

  it.each(["http://localhost:8080", "vscode://file", "jetbrains-gateway://connect", "/path?to=javascript:x", ""])("is not %j", (address) =>
    expect(isUnsafeAddress(address)).toBe(false)
  )
})

describe("a text without the slashes at its end", () => {
  it.each([
    ["https://example.com/a//", "https://example.com/a"],
    ["/a//b", "/a//b"],
    ["///", ""],
    ["", ""]
  ])("of %j is %j", (text, expected) => expect(withoutTrailingSlashes(text)).toBe(expected))
})
