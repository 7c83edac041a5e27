/** Functions of lists, sets and maps. */
import { refuse } from "../EvaluationError.js"
import { compareNumbers, computed, type Numeric } from "../Numbers.js"
import {
  byBytes,
  isEqual,
  isList,
  keyOf,
  makeSet,
  SetValue,
  sortedEntries,
  toBool,
  toItems,
  toMap,
  toNumeric,
  toText,
  unified,
  unknown,
  type Value
} from "../Values.js"
import type { Work } from "../Work.js"
import { argument, charactersOf, type Functions, type Implementation, integerAt, itemsAt, mapAt, textAt, textsAt } from "./Arguments.js"

const flattened = (items: ReadonlyArray<Value>, work: Work): ReadonlyArray<Value> => {
  work.step(items.length / 2)
  return items.flatMap((item) => (isList(item) || item instanceof SetValue ? flattened(toItems(item), work) : [item]))
}

const distinct = (items: ReadonlyArray<Value>, work: Work): ReadonlyArray<Value> => {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item, work)
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
}

/** Whether a value is one of the items; goes through them once for many values. */
const membersOf = (items: ReadonlyArray<Value>, work: Work): ((value: Value) => boolean) => {
  const keys = new Set(items.map((item) => keyOf(item, work)))
  return (value) => keys.has(keyOf(value, work))
}

const lengthOf = (value: Value, work: Work): number => {
  if (typeof value === "string") return charactersOf(value, work).length
  return isList(value) || value instanceof SetValue ? toItems(value).length : toMap(value).size
}

const slice: Implementation = (given) => {
  const [items, from, to] = [itemsAt(given, 0), integerAt(given, 1), integerAt(given, 2)]
  return from < 0 || to > items.length || from > to ? refuse("the indexes are outside the list") : items.slice(from, to)
}

const range: Implementation = (given) => {
  const [first = 0, second, third] = given.map(toNumeric)
  const [from, to] = second === undefined ? [0, first] : [first, second]
  const direction = compareNumbers(to, from)
  const step = third ?? (direction < 0 ? -1 : 1)
  if (step === 0 || compareNumbers(step, 0) * direction < 0) return refuse("the step of the range leads away from its end")
  const numbers: Array<Numeric> = []
  for (let next = from; compareNumbers(to, next) * direction > 0; next = computed("+", next, step)) {
    if (numbers.length === 1024) return refuse("a range has at most 1024 numbers")
    numbers.push(next)
  }
  return numbers
}

const merge: Implementation = (given) => {
  const maps = given.filter((value) => value !== null)
  return maps.includes(unknown) ? unknown : new Map(maps.flatMap((map) => [...toMap(map)]))
}

const lookup: Implementation = (given) => {
  const found = mapAt(given, 0).get(textAt(given, 1))
  return found ?? given[2] ?? refuse(`there is no element ${textAt(given, 1)}`)
}

const element: Implementation = (given) => {
  const [items, index] = [itemsAt(given, 0), integerAt(given, 1)]
  if (items.length === 0) return refuse("an empty list has no element")
  return items[((index % items.length) + items.length) % items.length] ?? null
}

/** Steps for each set that is taken part by part. */
const stepsOfSet = 4

const setOperation =
  (combine: (left: ReadonlyArray<Value>, right: ReadonlyArray<Value>, work: Work) => ReadonlyArray<Value>): Implementation =>
  (given, { work }) => {
    work.step(given.length * stepsOfSet)
    return makeSet(
      given.map(toItems).reduce((left, right) => combine(left, right, work)),
      work
    )
  }

const setProduct: Implementation = (given, { work }) => {
  const lists = given.map(toItems)
  // Each list copies the rows of those before it
  lists.reduce((rows, items, index) => {
    work.step(rows * items.length * (1 + index / 20))
    return rows * items.length
  }, 1)
  const rows = lists.reduce<ReadonlyArray<ReadonlyArray<Value>>>(
    (sofar, items) => sofar.flatMap((row) => items.map((item) => [...row, item])),
    [[]]
  )
  return given.every((value) => value instanceof SetValue) ? makeSet(rows, work) : rows
}

const chunks: Implementation = (given) => {
  const [items, size] = [itemsAt(given, 0), integerAt(given, 1)]
  if (size < 0) return refuse("the size of a chunk must not be negative")
  if (size === 0) return [items]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
}

const transpose: Implementation = (given, { work }) => {
  const turned = new Map<string, Array<string>>()
  for (const [key, values] of sortedEntries(mapAt(given, 0), work))
    for (const value of toItems(values).map(toText)) {
      work.step(2)
      const found = turned.get(value)
      if (found === undefined) turned.set(value, [key])
      else found.push(key)
    }
  return turned
}

const coalesce: Implementation = (given) => {
  const isText = given.some((value) => typeof value === "string")
  for (const value of given) {
    if (value === unknown) return unknown
    if (value !== null && value !== "") return isText ? toText(value) : value
  }
  return refuse("all arguments are null or empty")
}

export const collectionFunctions: Functions = {
  alltrue: (given) => itemsAt(given, 0).every((item) => item !== null && toBool(item)),
  anytrue: (given) => itemsAt(given, 0).some((item) => item !== null && toBool(item)),
  chunklist: chunks,
  coalesce,
  coalescelist: (given) => given.find((value) => value !== null && toItems(value).length > 0) ?? refuse("all lists are empty"),
  compact: (given) => itemsAt(given, 0).flatMap((item) => (item === null || item === "" ? [] : [toText(item)])),
  concat: (given) => given.flatMap(toItems),
  contains: (given, { work }) => itemsAt(given, 0).some((item) => isEqual(item, argument(given, 1), work)),
  distinct: (given, { work }) => distinct(itemsAt(given, 0), work),
  element,
  flatten: (given, { work }) => flattened(itemsAt(given, 0), work),
  index: (given, { work }) => {
    const index = itemsAt(given, 0).findIndex((item) => isEqual(item, argument(given, 1), work))
    return index < 0 ? refuse("the list has no such element") : index
  },
  keys: (given, { work }) => sortedEntries(mapAt(given, 0), work).map(([key]) => key),
  length: (given, { work }) => lengthOf(argument(given, 0), work),
  list: (given) => unified(given),
  lookup,
  map: (given) => new Map(given.flatMap((key, index) => (index % 2 === 0 ? [[toText(key), argument(given, index + 1)] as const] : []))),
  matchkeys: (given, { work }) => {
    const keys = itemsAt(given, 1)
    const isWanted = membersOf(itemsAt(given, 2), work)
    return itemsAt(given, 0).filter((_, index) => isWanted(keys[index] ?? null))
  },
  merge,
  one: (given) => {
    const items = itemsAt(given, 0)
    return items.length > 1 ? refuse("the list has several elements") : (items[0] ?? null)
  },
  range,
  reverse: (given) => itemsAt(given, 0).toReversed(),
  setintersection: setOperation((left, right, work) => left.filter(membersOf(right, work))),
  setproduct: setProduct,
  setsubtract: setOperation((left, right, work) => {
    const isRight = membersOf(right, work)
    return left.filter((item) => !isRight(item))
  }),
  setunion: setOperation((left, right) => [...left, ...right]),
  slice,
  sort: (given, { work }) => {
    const texts = textsAt(given, 0)
    work.sort(texts)
    return texts.toSorted(byBytes)
  },
  transpose,
  values: (given, { work }) => sortedEntries(mapAt(given, 0), work).map(([, value]) => value),
  zipmap: (given) => {
    const [keys, values] = [textsAt(given, 0), itemsAt(given, 1)]
    return keys.length === values.length
      ? new Map(keys.map((key, index) => [key, values[index] ?? null]))
      : refuse("the lists have different lengths")
  }
}
