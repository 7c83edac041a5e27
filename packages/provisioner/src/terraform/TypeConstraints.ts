/** The types of variables, and the conversion of values to them. */
import type { Expression } from "./Expressions.js"
import { makeSet, refuse, settled, toBool, toItems, toMap, toNumber, toText, unknown, type Value } from "./Values.js"

/** The attributes of an object type, each with its type and default. */
const objectValue = (
  fields: ReadonlyArray<readonly [Expression, Expression]>,
  value: Value,
  literal: (expression: Expression) => Value
): Value => {
  const given = toMap(value)
  return new Map(
    fields.map(([key, type]) => {
      const name = toText(literal(key))
      const isOptional = type.kind === "call" && type.name === "optional"
      const [inner, fallback] = isOptional ? type.given : [type]
      const found = given.get(name)
      if (found === undefined && !isOptional) return refuse(`the attribute ${name} is required`)
      const chosen = found ?? (fallback === undefined ? null : literal(fallback))
      return [name, inner === undefined ? chosen : converted(inner, chosen, literal)] as const
    })
  )
}

/** The value in the type that an expression such as `list(string)` names. Throws `EvaluationError` for a value that has no form in the type. */
export const converted = (type: Expression, value: Value, literal: (expression: Expression) => Value): Value => {
  if (value === null || value === unknown) return value
  if (type.kind === "reference") {
    if (type.name === "string") return toText(value)
    if (type.name === "number") return toNumber(value)
    if (type.name === "bool") return toBool(value)
    return value
  }
  if (type.kind !== "call") return value
  const [inner] = type.given
  if (inner === undefined) return value
  const item = (element: Value): Value => converted(inner, element, literal)
  switch (type.name) {
    case "list":
      return toItems(value).map(item)
    case "set":
      return makeSet(toItems(value).map(item))
    case "map":
      return new Map(Array.from(toMap(value), ([key, element]) => [key, item(element)]))
    case "tuple":
      return inner.kind === "list"
        ? toItems(value).map((element, index) => converted(inner.items[index] ?? inner, element, literal))
        : value
    case "object":
      return inner.kind === "object" ? objectValue(inner.items, settled(value), literal) : value
    default:
      return value
  }
}
