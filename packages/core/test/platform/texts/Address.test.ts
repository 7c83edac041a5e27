import { describe, expect, it } from "vitest"
import { isLocalPicture, isUnsafeAddress, pictureViolation, withoutTrailingSlashes } from "../../../src/platform/texts/Address.js"

describe("the address of a picture", () => {
  it.each(["", "/icon/code.svg", "https://example.com/a.png", "icon.png", "javascript:alert(1)"])("may be %j", (address) => {
    expect(pictureViolation(address, 100)).toBeUndefined()
  })

  it("has a length", () => {
    expect(pictureViolation("x".repeat(101), 100)).toBe("must be at most 100 characters")
  })
})

describe("a picture that pages load", () => {
  it.each(["/icon/code.svg", "/emojis/1f4bb.png", "data:image/svg+xml,<svg/>", "data:image/png;base64,AA=="])("may be at %j", (address) => {
    expect(isLocalPicture(address)).toBe(true)
  })

  it.each([
    "",
    "icon.png",
    "https://example.com/a.png",
    "//evil.example/a.png",
    "/@owner/web/apps/tool/",
    "/api/v2/users/me",
    "/icon/../logout",
    "/icon/%2e%2e/logout",
    "/icon/a.svg?to=/logout/b.svg",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>",
    "data:image/svg+xml\n,<svg/>",
    "blob:https://example.com/1",
    "file:///etc/passwd"
  ])("is not at %j", (address) => {
    expect(isLocalPicture(address)).toBe(false)
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
