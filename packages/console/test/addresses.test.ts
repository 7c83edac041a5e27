/** Addresses that other people chose. */
import { describe, expect, it } from "vitest"
import { iconAt, isOfService } from "../src/app/addresses.js"

const base = "https://here.example/console/"

describe("an address", () => {
  it("is one of this service however it is written", () => {
    const isOwn = (address: string, service = "") => isOfService(`${service}${address}`, service, base)
    expect(
      ["/icon/a.svg", "//evil.example/p", "/\t/evil.example/p", "/\\evil.example/p", "/\n\\evil.example"].map((each) => isOwn(each))
    ).toStrictEqual([true, false, false, false, false])
    expect([isOwn("//evil.example/p", "/mounted"), isOwn("/icon/a.svg", "https://api.example")]).toStrictEqual([true, true])
  })
})

describe("an icon", () => {
  it("is an icon of the service, a picture within the text, or an emoji", () => {
    expect(iconAt("/icon/a.svg", "", base)).toStrictEqual({ address: "/icon/a.svg" })
    expect(iconAt("/icon/a.svg", "/mounted", base)).toStrictEqual({ address: "/mounted/icon/a.svg" })
    expect(iconAt("/icon/a.svg", "https://api.example", base)).toStrictEqual({ address: "https://api.example/icon/a.svg" })
    expect(iconAt("data:image/png;base64,AA==", "", base)).toStrictEqual({ address: "data:image/png;base64,AA==" })
    expect(iconAt("/emojis/1f680.png", "", base)).toStrictEqual({ signs: "\u{1f680}" })
  })

  it.each([
    undefined,
    "",
    "/logout",
    "/icon/../logout",
    "/icon/%2e%2e/logout",
    "/icon\\..\\logout",
    "/@owner/web/apps/tool/",
    "/api/v2/users/me",
    "//evil.example/icon/p",
    "/\t/evil.example/icon/p",
    "https://evil.example/icon/p.png",
    "data:text/html,x",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "icon/a.svg",
    "/emojis/ffffffff.png"
  ])("is nothing else: %s", (icon) => {
    expect(iconAt(icon, "", base)).toBeUndefined()
  })

  it("does not leave the place where the service is mounted", () => {
    expect(iconAt("/../icon/a.svg", "/mounted", base)).toBeUndefined()
  })
})
