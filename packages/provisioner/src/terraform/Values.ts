/** The values of expressions, and Terraform's conversions between them. */
import { Data } from "effect"

/** An expression has no value: a reference to nothing, a wrong argument, too much work. */
export class EvaluationError extends Data.TaggedError("EvaluationError")<{ readonly cause: string; readonly isLimit?: boolean }> {
  override get message(): string {
    return this.cause
  }
}

export const refuse = (cause: string): never => {
  throw new EvaluationError({ cause })
}

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

export type Value = string | number | boolean | null | typeof unknown | ReadonlyArray<Value> | SetValue | MapValue | Attributes

export class Attributes {
  constructor(readonly lazy: LazyValue) {}
}

export const isList = (value: Value): value is ReadonlyArray<Value> => Array.isArray(value)
export const isMap = (value: Value): value is MapValue => value instanceof Map

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
  if (typeof value === "object") return "object"
  return typeof value === "boolean" ? "bool" : typeof value
}

/** Never with an exponent. Fractions have the digits that their arithmetic keeps. */
export const numberText = (value: number): string => {
  if (Object.is(value, -0)) return "-0"
  if (Number.isInteger(value)) return BigInt(value).toString()
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf"
  const text = String(Number(value.toPrecision(15)))
  return text.includes("e") ? value.toFixed(20).replace(/0+$/, "") : text
}

/** Order of sets and maps: texts by their bytes, for which code units are a good measure. */
export const byBytes = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const keyOf = (value: Value): string => JSON.stringify(plain(value))

export const makeSet = (items: ReadonlyArray<Value>): SetValue => {
  const byKey = new Map(items.map((item): readonly [string, Value] => [keyOf(item), item]))
  const unique = [...byKey.values()]
  if (unique.every((item) => typeof item === "string")) return new SetValue(unique.toSorted(byBytes))
  if (unique.every((item) => typeof item === "number")) return new SetValue(unique.toSorted((a, b) => a - b))
  return new SetValue([...byKey].toSorted(([a], [b]) => byBytes(a, b)).map(([, item]) => item))
}

export const sortedEntries = (map: MapValue): ReadonlyArray<readonly [string, Value]> => [...map].toSorted(([a], [b]) => byBytes(a, b))

/** Whether any part is unknown. */
export const hasUnknown = (value: Value): boolean => {
  if (value === unknown) return true
  if (isList(value)) return value.some(hasUnknown)
  if (value instanceof SetValue) return value.items.some(hasUnknown)
  const map = settled(value)
  return isMap(map) && [...map.values()].some(hasUnknown)
}

/** As JSON holds it, keys in order. */
export const plain = (value: Value): unknown => {
  if (value === unknown) return { unknown: true }
  if (isList(value)) return value.map(plain)
  if (value instanceof SetValue) return value.items.map(plain)
  const map = settled(value)
  if (isMap(map)) return Object.fromEntries(sortedEntries(map).map(([key, item]) => [key, plain(item)]))
  return map
}

export const fromPlain = (value: unknown): Value => {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map(fromPlain)
  if (typeof value === "object") return new Map(Object.entries(value).map(([key, item]) => [key, fromPlain(item)]))
  return refuse("the value is of no type that expressions know")
}

export const isEqual = (left: Value, right: Value): boolean => kindOf(left) === kindOf(right) && keyOf(left) === keyOf(right)

export const toText = (value: Value): string => {
  if (typeof value === "string") return value
  if (typeof value === "number") return numberText(value)
  if (typeof value === "boolean") return String(value)
  return refuse(`a text is required, not ${kindOf(value)}`)
}

export const toNumber = (value: Value): number => {
  if (typeof value === "number") return value
  if (typeof value === "string" && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) return Number(value)
  return refuse(`a number is required, not ${typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : kindOf(value)}`)
}

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
export const entriesOf = (value: Value): ReadonlyArray<readonly [Value, Value]> => {
  if (isList(value)) return value.map((item, index) => [index, item])
  if (value instanceof SetValue) return value.items.map((item) => [item, item])
  return sortedEntries(toMap(value))
}

/** The elements in one type, as lists and maps have them: texts where one is a text. */
export const unified = (items: ReadonlyArray<Value>): ReadonlyArray<Value> => {
  const kinds = new Set(items.filter((item) => item !== null && item !== unknown).map(kindOf))
  const isPrimitive = ["string", "number", "bool"]
  if (kinds.size < 2 || ![...kinds].every((kind) => isPrimitive.includes(kind))) return items
  return items.map((item) => (item === null || item === unknown ? item : toText(item)))
}
