import { isEmailAddress, profileViolations } from "@atelier/core/identity"
import { describe, expect, it } from "vitest"

describe("an e-mail address", () => {
  it.each(["ada@example.com", "Ada.Lovelace+git@Sub.Example.co", "o'neill@example.org", "jürgen@münchen.example", '"a b"@example.com'])(
    "may be %s",
    (address) => {
      expect(isEmailAddress(address)).toBe(true)
    }
  )

  it.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "ada@@example.com",
    " ada@example.com",
    "ada@example.com ",
    "ada@.com",
    "a..b@example.com",
    "ada@-example.com",
    "Ada <ada@example.com>",
    `${"a".repeat(250)}@example.com`
  ])("is not %j", (address) => {
    expect(isEmailAddress(address)).toBe(false)
  })
})

describe("the rules of a user's profile", () => {
  const ada = { email: "ada@example.com", username: "ada", name: "Ada Lovelace" }

  it.each(["A-b1", "0", "a".repeat(32)])("admit the username %s", (username) => {
    expect(profileViolations({ ...ada, username })).toStrictEqual([])
  })

  it.each(["a--b", "-a", "a-", "a_b", "a b", "a".repeat(33), "new", "create", "me", "Me", "ä", "a\n"])(
    "refuse the username %j",
    (username) => {
      expect(profileViolations({ ...ada, username }).map(({ field }) => field)).toStrictEqual(["username"])
    }
  )

  it.each([" Ada", "Ada ", "a".repeat(129), "ä".repeat(65), "a\0b"])("refuse the name %j", (name) => {
    expect(profileViolations({ ...ada, name }).map(({ field }) => field)).toStrictEqual(["name"])
  })

  it("are all reported at once", () => {
    expect(profileViolations({ email: "", username: "", name: " " })).toStrictEqual([
      { field: "email", detail: "is required" },
      { field: "username", detail: "is required" },
      { field: "name", detail: "must not begin or end with whitespace" }
    ])
  })
})
