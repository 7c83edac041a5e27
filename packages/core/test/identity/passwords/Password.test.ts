import { Password } from "@atelier/core/identity"
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { codePoint } from "../../../../../test/records/codePoint.js"

describe("a password's entropy", () => {
  it.each([
    ["newpassword", 51.7],
    ["Passw0rd!", 54.6],
    ["aaaaaaaaaa", 9.4],
    ["1234567890", 10],
    ["0987654321", 13.3],
    ["abcabcabc", 37.6],
    ["qwertyuiop", 9.4],
    ["", 0]
  ])("of %j is %d bits", (password, bits) => {
    expect(Password.entropy(password)).toBeCloseTo(bits, 1)
  })

  it("counts every distinct character outside the classes", () => {
    expect(Password.entropy("äöü")).toBeCloseTo(6 * Math.log2(3))
  })

  it("does not grow by repeating a character more than twice", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1, maxLength: 1 }), fc.integer({ min: 2, max: 40 }), (prefix, character, times) => {
        expect(Password.entropy(prefix + character.repeat(times))).toBe(Password.entropy(prefix + character.repeat(2)))
      })
    )
  })

  it("is at most what length and alphabet give, and never negative", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 80 }), (password) => {
        const bytes = new TextEncoder().encode(password).length
        const entropy = Password.entropy(password)
        expect(entropy).toBeGreaterThanOrEqual(0)
        expect(entropy).toBeLessThanOrEqual(bytes * Math.log2(94 + new Set(password).size))
      })
    )
  })
})

describe("a password", () => {
  it.each(["newpasswords", "Passw0rd!", "SomeSecurePassword!", `Ab1!${"xK9_".repeat(15)}`])("like %j is strong enough", (password) => {
    expect(Password.violation(password)).toBeUndefined()
  })

  it.each([
    ["newpassword", "is too easy to guess: use more special characters, upper case letters, numbers, a longer password"],
    ["notstrong", "is too easy to guess: use more special characters, upper case letters, numbers, a longer password"],
    ["1234567890", "is too easy to guess: use more special characters, lower case letters, upper case letters, a longer password"],
    ["Aa1!", "is too easy to guess: use a longer password"],
    [`Ab1!${"xK9_".repeat(15)}c`, "must be at most 64 bytes long"],
    ["ä".repeat(33), "must be at most 64 bytes long"]
  ])("like %j is refused with advice", (password, advice) => {
    expect(Password.violation(password)).toBe(advice)
  })

  it("is accepted exactly when it has 52 bits of entropy in at most 64 bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 90 }), (password) => {
        const fits = new TextEncoder().encode(password).length <= 64
        expect(Password.violation(password) === undefined).toBe(fits && Password.entropy(password) >= 52)
      })
    )
  })
})
