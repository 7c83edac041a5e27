/** The types of variables, and the conversion of values to them. */
import type { Expression } from "./Expressions.js"
import { refuse } from "./EvaluationError.js"
import { makeSet, settled, toBool, toItems, toMap, toNumeric, toText, unknown, type Value } from "./Values.js"
import type { Work } from "./Work.js"

/** What a conversion stands on: the value of an expression in a type, and the work that it is part of. */
export interface Conversion {
  readonly literal: (expression: Expression) => Value
  readonly work: Work
}

/** The attributes of an object type, each with its type and default. */
const objectValue = (fields: ReadonlyArray<readonly [Expression, Expression]>, value: Value, conversion: Conversion): Value => {
  const { literal } = conversion
  const given = toMap(value)
  return new Map(
    fields.map(([key, type]) => {
      const name = toText(literal(key))
      const isOptional = type.kind === "call" && type.name === "optional"
      const [inner, fallback] = isOptional ? type.given : [type]
      const found = given.get(name)
      if (found === undefined && !isOptional) return refuse(`the attribute ${name} is required`)
      const chosen = found ?? (fallback === undefined ? null : literal(fallback))
      return [name, inner === undefined ? chosen : converted(inner, chosen, conversion)] as const
    })
  )
}

/** The value in the type that an expression such as `list(string)` names. Throws `EvaluationError` for a value that has no form in the type. */
export const converted = (type: Expression, value: Value, conversion: Conversion): Value => {
  const { work } = conversion
  work.visit(1)
  if (value === null || value === unknown) return value
  if (type.kind === "reference") {
    if (type.name === "string") return toText(value)
    if (type.name === "number") return work.number(toNumeric(value))
    if (type.name === "bool") return toBool(value)
    return value
  }
  if (type.kind !== "call") return value
  const [inner] = type.given
  if (inner === undefined) return value
  const item = (element: Value): Value => converted(inner, element, conversion)
  switch (type.name) {
    case "list":
      return toItems(value).map(item)
    case "set":
      return makeSet(toItems(value).map(item), work)
    case "map":
      return new Map(Array.from(toMap(value), ([key, element]) => [key, item(element)]))
    case "tuple":
      return inner.kind === "list"
        ? toItems(value).map((element, index) => converted(inner.items[index] ?? inner, element, conversion))
        : value
    case "object":
      return inner.kind === "object" ? objectValue(inner.items, settled(value), conversion) : value
    default:
      return value
  }
}
