/** The values of expressions, and Terraform's conversions between them. */
import { refuse } from "./EvaluationError.js"
import { compareNumbers, numberText, type Numeric, readNumber, Real, toDouble } from "./Numbers.js"
import type { Work } from "./Work.js"

/** What only an apply tells. */
export const unknown: unique symbol = Symbol("unknown")

export class SetValue {
  constructor(readonly items: ReadonlyArray<Value>) {}
}

/** The attributes of a block, each evaluated when it is asked for. */
export interface LazyValue {
  readonly attribute: (name: string) => Value
  readonly names: () => ReadonlyArray<string>
}

export type MapValue = ReadonlyMap<string, Value>

/** A number is whole and exact, or infinite; all others are a `Real`. */
export type Value = string | Numeric | boolean | null | typeof unknown | ReadonlyArray<Value> | SetValue | MapValue | Attributes

export class Attributes {
  constructor(readonly lazy: LazyValue) {}
}

export const isList = (value: Value): value is ReadonlyArray<Value> => Array.isArray(value)
export const isMap = (value: Value): value is MapValue => value instanceof Map
export const isNumber = (value: Value): value is Numeric => typeof value === "number" || value instanceof Real

/** As a map with all its values. */
export const settled = (value: Value): Value =>
  value instanceof Attributes
    ? new Map(value.lazy.names().map((name): readonly [string, Value] => [name, value.lazy.attribute(name)]))
    : value

export const kindOf = (value: Value): string => {
  if (value === null) return "null"
  if (value === unknown) return "unknown"
  if (isList(value)) return "list"
  if (value instanceof SetValue) return "set"
  if (isNumber(value)) return "number"
  if (typeof value === "object") return "object"
  return typeof value === "boolean" ? "bool" : "string"
}

/** Order of sets and maps: texts by their bytes, for which code units are a good measure. */
export const byBytes = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** A text that only equal values have. */
export const keyOf = (value: Value, work: Work): string => `${kindOf(value)} ${encodeJson(value, work)}`

/** Steps for each element of a set. */
const stepsOfElement = 2

export const makeSet = (items: ReadonlyArray<Value>, work: Work): SetValue => {
  const byKey = new Map(items.map((item): readonly [string, Value] => [keyOf(item, work), item]))
  const unique = [...byKey.values()]
  work.step(items.length * stepsOfElement)
  work.sort([...byKey.keys()])
  if (unique.every((item) => typeof item === "string")) return new SetValue(unique.toSorted(byBytes))
  if (unique.every(isNumber)) return new SetValue(unique.toSorted(compareNumbers))
  return new SetValue([...byKey].toSorted(([a], [b]) => byBytes(a, b)).map(([, item]) => item))
}

export const sortedEntries = (map: MapValue, work: Work): ReadonlyArray<readonly [string, Value]> => {
  work.sort([...map.keys()])
  return [...map].toSorted(([a], [b]) => byBytes(a, b))
}

/** Collections that were looked through before. */
const looked = new WeakMap<object, boolean>()

/** Steps for each collection that was not looked through before. */
const stepsOfLook = 2

/** Whether any part is unknown. */
export const hasUnknown = (value: Value, work: Work): boolean => {
  if (value === unknown) return true
  if (typeof value !== "object" || value === null || value instanceof Real) return false
  const known = looked.get(value)
  if (known !== undefined) return known
  const map = settled(value)
  const parts = isList(map) ? map : map instanceof SetValue ? map.items : isMap(map) ? [...map.values()] : []
  work.step(stepsOfLook + parts.length / 10)
  const found = parts.some((part) => hasUnknown(part, work))
  looked.set(value, found)
  return found
}

/** Steps for each collection that is encoded. */
const stepsOfCollection = 4

/** As JSON, keys in order and all digits of numbers. */
export const encodeJson = (value: Value, work: Work): string => {
  work.step(typeof value === "string" ? 0.5 + value.length / 20 : typeof value === "object" ? stepsOfCollection : 0.5)
  if (value === unknown) return '{"unknown":true}'
  if (typeof value === "string") return JSON.stringify(value)
  if (isNumber(value)) return numberText(value)
  if (isList(value)) return `[${value.map((item) => encodeJson(item, work)).join(",")}]`
  if (value instanceof SetValue) return encodeJson(value.items, work)
  const map = settled(value)
  if (!isMap(map)) return String(map)
  return `{${sortedEntries(map, work)
    .map(([key, item]) => `${JSON.stringify(key)}:${encodeJson(item, work)}`)
    .join(",")}}`
}

export const isEqual = (left: Value, right: Value, work: Work): boolean => {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right
  return left === right || (kindOf(left) === kindOf(right) && keyOf(left, work) === keyOf(right, work))
}

export const toText = (value: Value): string => {
  if (typeof value === "string") return value
  if (isNumber(value)) return numberText(value)
  if (typeof value === "boolean") return String(value)
  return refuse(`a text is required, not ${kindOf(value)}`)
}

export const toNumeric = (value: Value): Numeric => {
  if (isNumber(value)) return value
  const read = typeof value === "string" ? readNumber(value) : undefined
  return read ?? refuse(`a number is required, not ${typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : kindOf(value)}`)
}

/** The nearest number of JavaScript, for indexes, counts and functions that compute in doubles. */
export const toNumber = (value: Value): number => toDouble(toNumeric(value))

const truths: ReadonlyMap<Value, boolean> = new Map<Value, boolean>([
  [true, true],
  [false, false],
  ["true", true],
  ["false", false],
  ["1", true],
  ["0", false]
])

export const toBool = (value: Value): boolean => truths.get(value) ?? refuse(`a bool is required, not ${kindOf(value)}`)

/** The elements of a list, a tuple or a set. */
export const toItems = (value: Value): ReadonlyArray<Value> => {
  if (isList(value)) return value
  if (value instanceof SetValue) return value.items
  return refuse(`a list is required, not ${kindOf(value)}`)
}

export const toMap = (value: Value): MapValue => {
  const map = settled(value)
  return isMap(map) ? map : refuse(`a map is required, not ${kindOf(value)}`)
}

/** Keys and values of what a `for` goes through, in its order. */
export const entriesOf = (value: Value, work: Work): ReadonlyArray<readonly [Value, Value]> => {
  if (isList(value)) return value.map((item, index) => [index, item])
  if (value instanceof SetValue) return value.items.map((item) => [item, item])
  return sortedEntries(toMap(value), work)
}

/** The elements in one type, as lists and maps have them: texts where one is a text. */
export const unified = (items: ReadonlyArray<Value>): ReadonlyArray<Value> => {
  const kinds = new Set(items.filter((item) => item !== null && item !== unknown).map(kindOf))
  const isPrimitive = ["string", "number", "bool"]
  if (kinds.size < 2 || ![...kinds].every((kind) => isPrimitive.includes(kind))) return items
  return items.map((item) => (item === null || item === unknown ? item : toText(item)))
}
