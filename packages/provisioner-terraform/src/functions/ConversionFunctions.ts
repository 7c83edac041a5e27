/** Conversions between types, and functions of secrets, which forms do not mark. */
import { makeSet, sortedEntries, toBool, toItems, toMap, toNumeric, toText, unified, type Value } from "../Values.js"
import type { Work } from "../Work.js"
import { argument, type Functions, type Implementation } from "./Arguments.js"

const convertible =
  (convert: (value: Value, work: Work) => Value): Implementation =>
  (given, { work }) => {
    const value = argument(given, 0)
    return value === null ? null : convert(value, work)
  }

export const conversionFunctions: Functions = {
  ephemeralasnull: (given) => argument(given, 0),
  issensitive: () => false,
  nonsensitive: (given) => argument(given, 0),
  sensitive: (given) => argument(given, 0),
  tobool: convertible(toBool),
  tolist: convertible((value) => unified(toItems(value))),
  tomap: convertible((value, work) => {
    const entries = sortedEntries(toMap(value), work)
    const items = unified(entries.map(([, item]) => item))
    return new Map(entries.map(([key], index) => [key, items[index] ?? null]))
  }),
  tonumber: convertible((value, work) => work.number(toNumeric(value))),
  toset: convertible((value, work) => makeSet(unified(toItems(value)), work)),
  tostring: convertible(toText)
}
