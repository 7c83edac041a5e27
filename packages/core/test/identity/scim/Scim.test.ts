import { activeAfter, emailFrom, fullNameOf, parseScimFilter, type ScimInvalid, type ScimOperation } from "@atelier/core/identity"
import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const typeOf = (result: Either.Either<unknown, ScimInvalid>) => (Either.isLeft(result) ? result.left.scimType : result.right)

describe("a filter", () => {
  it("is one comparison of a name or an address, in any case", () => {
    const user = { username: "alice" }
    const address = { email: "alice@example.com" }
    const read: ReadonlyArray<readonly [string, unknown]> = [
      ['userName eq "Alice"', user],
      ['  username EQ   "alice" ', user],
      ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "alice"', user],
      ['email eq "Alice@Example.com"', address],
      ['emails.value eq "alice@example.com"', address],
      [String.raw`userName eq "al\u0069ce"`, user],
      [String.raw`userName eq "a\"b"`, { username: 'a"b' }]
    ]
    expect(read.map(([filter]) => Either.getOrNull(parseScimFilter(filter)))).toStrictEqual(read.map(([, expected]) => expected))
  })

  it("is refused where it is anything else, or would answer whom it leaves out", () => {
    const filters = [
      "userName",
      "userName pr",
      "userName eq alice",
      "userName eq 1",
      'userName ne "alice"',
      'userName sw "alice"',
      'emails.value co "alice@example.com"',
      'userName gt "alice"',
      'userName lt "alice"',
      'displayName eq "alice"',
      '__proto__ eq "alice"',
      'userName eq "alice" and active eq true',
      'not (userName eq "alice")',
      'emails[type eq "work"].value eq "alice"',
      'userName eq "alice',
      String.raw`userName eq "\x"`,
      String.raw`userName eq "\u0000"`,
      `userName eq "${"a".repeat(1024)}"`
    ]
    expect(filters.map((filter) => typeOf(parseScimFilter(filter)))).toStrictEqual(filters.map(() => "invalidFilter"))
  })

  it("finds the very text that it quotes", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (text) => {
        fc.pre(!text.includes("\0"))
        expect(parseScimFilter(`userName eq ${JSON.stringify(text)}`)).toStrictEqual(Either.right({ username: text.toLowerCase() }))
      })
    )
  })

  it("of any text is read or refused", () => {
    fc.assert(fc.property(fc.string(), (text) => typeof typeOf(parseScimFilter(text)) === "string"))
  })
})

describe("a change", () => {
  const cases: ReadonlyArray<readonly [ReadonlyArray<ScimOperation>, unknown]> = [
    [[{ op: "replace", path: "active", value: false }], false],
    [[{ op: "Replace", path: "Active", value: "True" }], true],
    [[{ op: "replace", value: { ACTIVE: "false", displayName: "x" } }], false],
    [[{ op: "replace", value: { "urn:ietf:params:scim:schemas:core:2.0:User:active": true } }], true],
    [[{ op: "replace", value: { displayName: "x" } }], undefined],
    [[{ op: "replace", path: "displayName", value: "x" }], undefined],
    [[{ op: "remove", path: "active" }], false],
    [[{ op: "remove", path: "name" }], undefined],
    [[{ op: "add", path: "active", value: false }], undefined],
    [
      [
        { op: "replace", path: "active", value: false },
        { op: "replace", path: "displayName", value: "x" }
      ],
      false
    ],
    [
      [
        { op: "remove", path: "active" },
        { op: "replace", path: "active", value: true }
      ],
      true
    ],
    [[], "invalidValue"],
    [[{ op: "replace", path: "active", value: 1 }], "invalidValue"],
    [[{ op: "replace", path: "active", value: "yes" }], "invalidValue"],
    [[{ op: "replace", path: "active" }], "invalidValue"],
    [[{ op: "replace", value: [true] }], "invalidValue"],
    [[{ op: "replace", value: null }], "invalidValue"],
    [[{ op: "remove" }], "noTarget"],
    [[{ op: "move", path: "active" }], "invalidSyntax"],
    [Array.from({ length: 101 }, () => ({ op: "remove", path: "active" })), "invalidValue"]
  ]

  it.each(cases)("%j leads to %j", (operations, expected) => {
    expect(typeOf(activeAfter(operations))).toBe(expected)
  })

  it("is as its last step that concerns the switch", () => {
    const step = fc.oneof(
      fc.boolean().map((value) => ({ operation: { op: "replace", path: "active", value }, active: value })),
      fc.constant({ operation: { op: "remove", path: "active" }, active: false }),
      fc.string().map((value) => ({ operation: { op: "replace", path: "title", value }, active: undefined }))
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const last = steps.findLast(({ active }) => active !== undefined)?.active
        expect(typeOf(activeAfter(steps.map(({ operation }) => operation)))).toBe(last)
      })
    )
  })
})

describe("a provider's user", () => {
  it("has the primary address, or else the last", () => {
    const [work, home] = [{ value: "work@example.com" }, { value: "home@example.com" }]
    expect([
      emailFrom([]),
      emailFrom([work, home]),
      emailFrom([{ ...work, primary: true }, home]),
      emailFrom([{ ...work, primary: "True" }, home]),
      emailFrom([work, { ...home, primary: false }]),
      emailFrom([{ primary: true }])
    ]).toStrictEqual(["", home.value, work.value, work.value, home.value, ""])
  })

  it("has its full name, whichever way that is given", () => {
    expect([
      fullNameOf({ name: { formatted: " Alice  A. ", givenName: "x" } }),
      fullNameOf({ name: { givenName: "Alice", familyName: "Archer" }, displayName: "x" }),
      fullNameOf({ name: { familyName: "Archer" } }),
      fullNameOf({ displayName: "Al" }),
      fullNameOf({})
    ]).toStrictEqual(["Alice  A.", "Alice Archer", "Archer", "Al", ""])
  })
})
