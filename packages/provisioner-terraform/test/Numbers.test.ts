import * as fc from "fast-check"
import { expect, it } from "vitest"
import { compareNumbers, computed, floorOf, fromBigInt, fromDouble, numberText, readNumber } from "../src/Numbers.js"

const read = (text: string) => readNumber(text) ?? Number.NaN

// What the console of Terraform 1.11.4 prints
it.each([
  ["7", "/", "3", `2.${"3".repeat(153)}2`],
  ["1", "/", "3", `0.${"3".repeat(154)}5`],
  ["0.1", "+", "0.2", "0.3"],
  ["9007199254740993", "+", "1", "9007199254740994"],
  ["123456789012345678901234567890", "*", "987654321098765432109876543210", "121932631137021795226185032733622923332237463801111263526900"],
  ["12345678901234567891", "%", "10", "1"],
  ["-7", "%", "3", "-1"],
  ["7.5", "%", "2", "1.5"],
  ["0", "*", "-1", "-0"],
  ["-9007199254740993", "*", "0", "-0"],
  ["0", "/", "-0.5", "-0"],
  ["0", "%", "-5", "0"],
  ["-5", "%", "5", "0"],
  ["1", "/", "0", "+Inf"],
  ["10", "/", "4", "2.5"]
] as const)("%s %s %s is %s", (left, operator, right, expected) => {
  expect(numberText(computed(operator, read(left), read(right)))).toBe(expected)
})

it.each([
  ["1e30", "1000000000000000000000000000000"],
  ["1e-7", "0.0000001"],
  ["1.10", "1.1"],
  ["-12345678901234567890.5", "-12345678901234567890.5"],
  [".5", "0.5"],
  ["007", "7"]
])("%s is written as %s", (source, expected) => {
  expect(numberText(read(source))).toBe(expected)
})

it("keeps only what a double held where a function computes in doubles", () => {
  expect(numberText(fromDouble(2 ** 100))).toBe("1267650600228229400000000000000")
  expect(numberText(fromDouble(Math.SQRT2))).toBe("1.4142135623730951")
})

it("computes whole numbers exactly, and reads back what it writes", () => {
  const whole = fc.bigInt({ min: -(2n ** 250n), max: 2n ** 250n })
  fc.assert(
    fc.property(whole, whole, (left, right) => {
      const [a, b] = [fromBigInt(left), fromBigInt(right)]
      expect(numberText(computed("+", a, b))).toBe(String(left + right))
      const isMinusZero = left * right === 0n && (left < 0n || right < 0n)
      expect(numberText(computed("*", a, b))).toBe(isMinusZero ? "-0" : String(left * right))
      expect(compareNumbers(a, b)).toBe(left < right ? -1 : left > right ? 1 : 0)
      if (right === 0n) return
      const part = computed("/", a, b)
      expect(compareNumbers(read(numberText(part)), part)).toBe(0)
      expect(floorOf(part)).toBe(floorOf(fromBigInt(left / right - (left % right !== 0n && left < 0n !== right < 0n ? 1n : 0n))))
    }),
    {
      numRuns: 200,
      examples: [
        [-1n, 0n],
        [-(2n ** 53n), 0n]
      ]
    }
  )
})

it.each(["1e5000", "9".repeat(2000), "1e-5000"])("refuses a number with too many digits", (source) => {
  expect(() => read(source)).toThrow("a number has too many digits")
})
