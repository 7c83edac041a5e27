/**
 * Numbers as Terraform computes them: in binary, with 512 bits and rounding half to even. Whole numbers that are exact as a `number` of
 * JavaScript are one; all others are a `Real`.
 */
import { EvaluationError } from "./EvaluationError.js"

/** `mantissa * 2 ** exponent`; the mantissa is odd and has at most 512 bits. */
export class Real {
  private written: string | undefined

  constructor(
    readonly mantissa: bigint,
    readonly exponent: number
  ) {}

  get text(): string {
    return (this.written ??= realText(this))
  }
}

export type Numeric = number | Real

const precision = 512

/** Powers of two; a number beyond them has more digits than a value of a template needs. */
const maximumExponent = 4_096

/** Decimal digits of a number in a source, and its decimal exponent. */
const maximumDigits = 1_200

const tooLarge = (): never => {
  throw new EvaluationError({ cause: "a number has too many digits" })
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

const bitsOf = (value: bigint): number => {
  const hex = absolute(value).toString(16)
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0] ?? "0", 16)))
}

/** The mantissa without its last bits, rounded half to even. */
const shortened = (mantissa: bigint, bits: number): bigint => {
  const size = absolute(mantissa)
  const unit = 1n << BigInt(bits)
  const rest = size & (unit - 1n)
  const half = unit >> 1n
  const kept = size >> BigInt(bits)
  const rounded = rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept
  return mantissa < 0n ? -rounded : rounded
}

const trailingZeros = (value: bigint): number => {
  let count = 0
  let rest = absolute(value)
  while ((rest & 0xffffffffn) === 0n) {
    rest >>= 32n
    count += 32
  }
  const low = Number(rest & 0xffffffffn)
  return count + (31 - Math.clz32(low & -low))
}

/** The number in its one form. */
const rounded = (mantissa: bigint, exponent: number): Numeric => {
  if (mantissa === 0n) return 0
  const excess = bitsOf(mantissa) - precision
  const short = excess > 0 ? shortened(mantissa, excess) : mantissa
  const zeros = trailingZeros(short)
  const odd = short >> BigInt(zeros)
  const power = exponent + Math.max(0, excess) + zeros
  if (Math.abs(power) > maximumExponent) return tooLarge()
  if (power >= 0 && bitsOf(odd) + power <= 53) return Number(odd << BigInt(power))
  return new Real(odd, power)
}

const partsOf = (value: Numeric): Real => (value instanceof Real ? value : new Real(BigInt(value), 0))

/** The quotient of whole numbers; the divisor is positive. */
const quotient = (dividend: bigint, divisor: bigint, exponent: number): Numeric => {
  // Two bits more than are kept, and one that tells whether there is a rest
  const shift = Math.max(0, precision + 2 + bitsOf(divisor) - bitsOf(dividend))
  const size = absolute(dividend) << BigInt(shift)
  const sticky = size % divisor === 0n ? 0n : 1n
  const result = ((size / divisor) << 1n) | sticky
  return rounded(dividend < 0n ? -result : result, exponent - shift - 1)
}

/** Reads a decimal number such as `12`, `-0.5` or `1e3`; undefined for another text. */
export const readNumber = (text: string): Numeric | undefined => {
  const [, sign = "", whole = "", fraction = "", power = "0"] = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === "" && fraction === "") return undefined
  if (whole.length + fraction.length < 16 && fraction === "" && power === "0") return Number(sign + whole)
  if (whole.length + fraction.length > maximumDigits || Math.abs(Number(power)) > maximumDigits) return tooLarge()
  const digits = BigInt(sign === "-" ? `-${whole}${fraction}` : whole + fraction)
  const decimals = Number(power) - fraction.length
  if (digits === 0n) return sign === "-" ? -0 : 0
  return decimals >= 0 ? rounded(digits * 10n ** BigInt(decimals), 0) : quotient(digits, 10n ** BigInt(-decimals), 0)
}

/** The number that JavaScript's nearest one stands for in decimal. */
export const fromDouble = (value: number): Numeric => {
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return value
  return readNumber(String(value)) ?? value
}

export const fromBigInt = (value: bigint): Numeric => rounded(value, 0)

/** The nearest number of JavaScript. */
export const toDouble = (value: Numeric): number => (value instanceof Real ? Number(numberText(value)) : value)

export const isWhole = (value: Numeric): boolean => (value instanceof Real ? value.exponent >= 0 : Number.isInteger(value))

/** The largest whole number that is not larger; the number is finite. */
export const floorOf = (value: Numeric): bigint => {
  const { exponent, mantissa } = partsOf(value)
  // The shift of a negative number rounds down too
  return exponent >= 0 ? mantissa << BigInt(exponent) : mantissa >> BigInt(-exponent)
}

export const compareNumbers = (left: Numeric, right: Numeric): number => {
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : 0
  if (left === Infinity || right === -Infinity) return 1
  if (left === -Infinity || right === Infinity) return -1
  const [a, b] = [partsOf(left), partsOf(right)]
  const exponent = Math.min(a.exponent, b.exponent)
  const [x, y] = [a.mantissa << BigInt(a.exponent - exponent), b.mantissa << BigInt(b.exponent - exponent)]
  return x < y ? -1 : x > y ? 1 : 0
}

export const negated = (value: Numeric): Numeric => (value instanceof Real ? new Real(-value.mantissa, value.exponent) : -value)

const isFinite = (value: Numeric): boolean => value instanceof Real || Number.isFinite(value)

const inDouble = (operator: Operator, left: number, right: number): number => {
  switch (operator) {
    case "+":
      return left + right
    case "-":
      return left - right
    case "*":
      return left * right
    case "/":
      return left / right
    case "%":
      return left % right
  }
}

export type Operator = "+" | "-" | "*" | "/" | "%"

const isNegative = (value: Numeric): boolean => (value instanceof Real ? value.mantissa < 0n : value < 0 || Object.is(value, -0))

/** A zero with the sign of a product or quotient. The remainder is negative only where negative zero is divided. */
const signedZero = (operator: Operator, left: Numeric, right: Numeric): Numeric =>
  isNegative(left) !== isNegative(right) && (operator !== "%" || Object.is(left, -0)) ? -0 : 0

/** The result of an operator. Numbers beyond all bounds are infinite, as a division by zero is. */
export const computed = (operator: Operator, left: Numeric, right: Numeric): Numeric => {
  const result = unsigned(operator, left, right)
  return result === 0 && operator !== "+" && operator !== "-" ? signedZero(operator, left, right) : result
}

/** The result, where the sign of zero does not count. */
const unsigned = (operator: Operator, left: Numeric, right: Numeric): Numeric => {
  const isLimit = !isFinite(left) || !isFinite(right) || (right === 0 && operator === "/")
  const quick =
    isLimit || (typeof left === "number" && typeof right === "number") ? inDouble(operator, toDouble(left), toDouble(right)) : NaN
  if (isLimit || Number.isSafeInteger(quick)) return quick
  const [a, b] = [partsOf(left), partsOf(right)]
  const exponent = Math.min(a.exponent, b.exponent)
  const aligned = ({ exponent: own, mantissa }: Real): bigint => mantissa << BigInt(own - exponent)
  switch (operator) {
    case "+":
      return rounded(aligned(a) + aligned(b), exponent)
    case "-":
      return rounded(aligned(a) - aligned(b), exponent)
    case "*":
      return rounded(a.mantissa * b.mantissa, a.exponent + b.exponent)
    case "%":
      return rounded(aligned(a) % aligned(b), exponent)
    case "/":
      return b.mantissa < 0n
        ? quotient(-a.mantissa, -b.mantissa, a.exponent - b.exponent)
        : quotient(a.mantissa, b.mantissa, a.exponent - b.exponent)
  }
}

/** How many characters texts of the same length begin with alike. */
const commonLength = (left: string, right: string): number => {
  let length = 0
  while (length < left.length && left[length] === right[length]) length++
  return length
}

/** The fewest decimal digits that stand for no other number of 512 bits, as a whole number of `10 ** -scale`. */
const shortest = ({ exponent, mantissa }: Real): { readonly value: bigint; readonly scale: number } => {
  // In halves of the last of 512 bits, so that the bounds between this number and its neighbours are whole
  const shift = precision - bitsOf(mantissa) + 1
  const halves = absolute(mantissa) << BigInt(shift)
  const power = exponent - shift
  const scale = Math.max(0, -power)
  const unit = power < 0 ? 5n ** BigInt(scale) : 1n << BigInt(power)
  const [low, exact, high] = [(halves - 1n) * unit, halves * unit, (halves + 1n) * unit]
  const upper = high.toString()
  for (let length = commonLength(low.toString().padStart(upper.length, "0"), upper); length < upper.length; length++) {
    const step = 10n ** BigInt(upper.length - length)
    const below = exact - (exact % step)
    const above = below + step
    const candidates = exact - below < above - exact ? [below, above] : [above, below]
    const found = candidates.find((one) => low < one && one < high)
    if (found !== undefined) return { value: found, scale }
  }
  return { value: exact, scale }
}

const realText = (real: Real): string => {
  const { scale, value } = shortest(real)
  const sign = real.mantissa < 0n ? "-" : ""
  const digits = value.toString().padStart(scale + 1, "0")
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "")
  if (scale === 0) return sign + digits
  return sign + digits.slice(0, -scale) + (fraction === "" ? "" : `.${fraction}`)
}

/** Never with an exponent. */
export const numberText = (value: Numeric): string => {
  if (value instanceof Real) return value.text
  if (Object.is(value, -0)) return "-0"
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf"
  return String(value)
}
