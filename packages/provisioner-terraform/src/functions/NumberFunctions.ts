/** Functions of numbers. */
import { refuse } from "../EvaluationError.js"
import { compareNumbers, computed, floorOf, fromBigInt, fromDouble, negated, type Numeric } from "../Numbers.js"
import { toNumeric } from "../Values.js"
import type { Work } from "../Work.js"
import {
  type Arguments,
  finiteAt,
  type Functions,
  type Implementation,
  integerAt,
  itemsAt,
  numberAt,
  numericAt,
  textAt
} from "./Arguments.js"

const parseInteger: Implementation = (given) => {
  const [text, base] = [textAt(given, 0), integerAt(given, 1)]
  const body = text.toLowerCase().replace(/^[+-]/, "")
  if (base < 2 || base > 62) return refuse("the base must be from 2 to 62")
  if (body.length > 1_000) return refuse("the number is too long")
  let value = 0n
  for (const sign of base > 36 ? text.replace(/^[+-]/, "") : body) {
    const digit = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".indexOf(sign)
    if (digit < 0 || digit >= base) return refuse(`${JSON.stringify(text)} is no number of base ${base}`)
    value = value * BigInt(base) + BigInt(digit)
  }
  if (body === "") return refuse(`${JSON.stringify(text)} is no number of base ${base}`)
  return fromBigInt(text.startsWith("-") ? -value : value)
}

const log: Implementation = (given) => {
  const [value, base] = [numberAt(given, 0), numberAt(given, 1)]
  const exact = Math.log(value) / Math.log(base)
  // Logarithms of powers are whole
  return fromDouble(Math.abs(exact - Math.round(exact)) < 1e-12 ? Math.round(exact) : exact)
}

/** Those that are read from texts are made. */
const numerics = (values: Arguments, work: Work): ReadonlyArray<Numeric> => values.map((value) => work.number(toNumeric(value)))

export const numberFunctions: Functions = {
  abs: (given) => {
    const value = numericAt(given, 0)
    return compareNumbers(value, 0) < 0 ? negated(value) : value
  },
  ceil: (given) => fromBigInt(-floorOf(negated(finiteAt(given, 0)))),
  floor: (given) => fromBigInt(floorOf(finiteAt(given, 0))),
  log,
  max: (given, { work }) => numerics(given, work).reduce((a, b) => (compareNumbers(a, b) < 0 ? b : a)),
  min: (given, { work }) => numerics(given, work).reduce((a, b) => (compareNumbers(b, a) < 0 ? b : a)),
  parseint: parseInteger,
  pow: (given) => fromDouble(numberAt(given, 0) ** numberAt(given, 1)),
  signum: (given) => compareNumbers(numericAt(given, 0), 0),
  sum: (given, { work }) => numerics(itemsAt(given, 0), work).reduce((a, b) => computed("+", a, b))
}
