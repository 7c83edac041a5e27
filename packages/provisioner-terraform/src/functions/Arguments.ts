/** What functions are given. */
import { refuse } from "../EvaluationError.js"
import type { Numeric } from "../Numbers.js"
import type { Scope } from "../Scope.js"
import type { Work } from "../Work.js"
import { type MapValue, toItems, toMap, toNumber, toNumeric, toText, type Value } from "../Values.js"

export type Arguments = ReadonlyArray<Value>
/** Computes a value from arguments that are known. Throws `EvaluationError`. */
export type Implementation = (given: Arguments, scope: Scope) => Value
export type Functions = Readonly<Record<string, Implementation>>

export const argument = (given: Arguments, index: number): Value => {
  const value = given[index]
  return value === undefined ? refuse("an argument is missing") : value
}
export const textAt = (given: Arguments, index: number): string => toText(argument(given, index))
export const numberAt = (given: Arguments, index: number): number => toNumber(argument(given, index))
export const numericAt = (given: Arguments, index: number): Numeric => toNumeric(argument(given, index))
export const finiteAt = (given: Arguments, index: number): Numeric => {
  const value = numericAt(given, index)
  return value === Infinity || value === -Infinity ? refuse("a finite number is required") : value
}
export const integerAt = (given: Arguments, index: number): number => {
  const value = numericAt(given, index)
  return typeof value === "number" && Number.isInteger(value) ? value : refuse("a whole number is required")
}
export const itemsAt = (given: Arguments, index: number): ReadonlyArray<Value> => toItems(argument(given, index))
export const textsAt = (given: Arguments, index: number): ReadonlyArray<string> => itemsAt(given, index).map(toText)
export const mapAt = (given: Arguments, index: number): MapValue => toMap(argument(given, index))

/** Steps for each pair of characters: the segmenter's time grows with the square of the length. */
const stepsOfPair = 0.001

/** The characters of a text as users see them, which may be several of Unicode's. */
export const charactersOf = (text: string, work: Work): ReadonlyArray<string> => {
  // In ASCII, only the end of a line can be a pair
  if (/^[^\r\u0080-\uffff]*$/.test(text)) return text.split("")
  work.step(text.length ** 2 * stepsOfPair)
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}
