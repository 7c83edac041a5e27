import { isUsername } from "@atelier/core/identity"
import { Name } from "@atelier/core/platform"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { codePoint } from "../../../../../test/records/codePoint.js"
import { avatarFrom, fullNameFrom, suffixed, usernameFrom } from "../../../src/identity/logins/ProviderProfile.js"

describe("what a provider sends of a user", () => {
  it("yields a username, from the address if the name is missing", () => {
    const made = (claimed: string) => usernameFrom(claimed, "jane.doe@example.com")
    expect(made("ada-l")).toBe("ada-l")
    expect(made("ada.lovelace@corp.example")).toBe("adalovelace")
    expect(made("a@b@c")).toBe("ab")
    expect(made("")).toBe("janedoe")
    expect(made("-")).toBeUndefined()
    expect(made("new")).toBeUndefined()
    expect(made("me@corp.example")).toBeUndefined()
    expect(usernameFrom("", "ME@corp.example")).toBeUndefined()
    expect(made("x".repeat(33))).toBeUndefined()
  })

  it("never makes a username that cannot be one, with a suffix or without", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.string({ unit: codePoint }), (claimed, email) => {
        const name = usernameFrom(claimed, email)
        return name === undefined || (isUsername(name) && isUsername(suffixed(name, "a1B2c3")))
      })
    )
  })

  it("never makes a full name that cannot be stored", () => {
    expect(fullNameFrom(`${"é".repeat(64)}x`)).toBe("é".repeat(64))
    expect(fullNameFrom("  Ada\r\nLovelace\ud800 ")).toBe("Ada Lovelace")
    fc.assert(
      fc.property(
        fc.string({ unit: codePoint, maxLength: 300 }),
        (claimed) => Name.displayViolation(fullNameFrom(claimed), 128) === undefined
      )
    )
  })

  it("is a picture only on the web", () => {
    expect(avatarFrom("https://example.com/a.png")).toBe("https://example.com/a.png")
    for (const claimed of ["", "a.png", "javascript:alert(1)", "data:image/png;base64,", `https://example.com/${"x".repeat(2048)}`]) {
      expect(avatarFrom(claimed)).toBe("")
    }
  })
})
