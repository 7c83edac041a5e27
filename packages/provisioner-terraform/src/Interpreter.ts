/** The values of expressions. */
import type { Expression, For } from "./Expressions.js"
import { callFunction } from "./Functions.js"
import { EvaluationError, refuse } from "./EvaluationError.js"
import { compareNumbers, computed, negated, type Numeric, type Operator } from "./Numbers.js"
import { type Scope, withNames } from "./Scope.js"
import {
  Attributes,
  entriesOf,
  isEqual,
  isList,
  isNumber,
  kindOf,
  settled,
  SetValue,
  toBool,
  toNumber,
  toNumeric,
  toText,
  unknown,
  type Value
} from "./Values.js"

/** The value of an attribute of a value. */
const attributeOf = (value: Value, name: string): Value => {
  if (value === unknown) return unknown
  if (value instanceof Attributes) return value.lazy.attribute(name)
  const map = settled(value)
  if (!(map instanceof Map)) return refuse(`${kindOf(value)} has no attribute ${name}`)
  const found: Value | undefined = map.get(name)
  return found === undefined ? refuse(`there is no attribute ${name}`) : found
}

const indexOf = (value: Value, key: Value): Value => {
  if (value === unknown || key === unknown) return unknown
  if (isList(value)) {
    const found = value[toNumber(key)]
    return found === undefined ? refuse("the list has no element with this index") : found
  }
  if (value instanceof SetValue) return refuse("a set has no indexes")
  return attributeOf(value, toText(key))
}

/** The name at the beginning of a reference, and the attributes behind it. */
const pathOf = (expression: Expression): { readonly root: string; readonly steps: ReadonlyArray<string> } | undefined => {
  const steps: Array<string> = []
  let at = expression
  for (; at.kind === "attribute"; at = at.of) steps.unshift(at.name)
  return at.kind === "reference" ? { root: at.name, steps } : undefined
}

const arithmetic = (operator: Operator, left: Numeric, right: Numeric, { work }: Scope): Value => {
  if (operator === "%" && right === 0) return refuse("the remainder of a division by zero")
  const result = work.number(computed(operator, left, right))
  return Number.isNaN(result) ? refuse("the result is not a number") : result
}

const compare = (operator: string, left: Value, right: Value, scope: Scope): Value => {
  const [a, b] = [toNumeric(left), toNumeric(right)]
  switch (operator) {
    case "<":
      return compareNumbers(a, b) < 0
    case "<=":
      return compareNumbers(a, b) <= 0
    case ">":
      return compareNumbers(a, b) > 0
    case ">=":
      return compareNumbers(a, b) >= 0
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return arithmetic(operator, a, b, scope)
    default:
      return refuse(`there is no operator ${operator}`)
  }
}

const binary = (operator: string, left: Value, right: () => Value, scope: Scope): Value => {
  if (operator === "&&" || operator === "||") {
    const isOr = operator === "||"
    const second = right()
    const both: ReadonlyArray<Value> = [left, second]
    const known = both.flatMap((value) => (value === unknown ? [] : [toBool(value)]))
    if (known.includes(isOr)) return isOr
    return known.length === 2 ? !isOr : unknown
  }
  const second = right()
  if (left === unknown || second === unknown) return unknown
  if (operator === "==") return isEqual(left, second, scope.work)
  if (operator === "!=") return !isEqual(left, second, scope.work)
  return compare(operator, left, second, scope)
}

/** Steps for each element that an expression is evaluated with. */
const stepsOfElement = 5

const forValue = (expression: For, scope: Scope): Value => {
  const collection = evaluate(expression.collection, scope)
  if (collection === unknown) return unknown
  if (collection === null) return refuse("a for expression cannot go through null")
  const list: Array<Value> = []
  const map = new Map<string, Value>()
  const groups = new Map<string, Array<Value>>()
  let isUnknown = false
  for (const [key, item] of entriesOf(collection, scope.work)) {
    const names: Array<readonly [string, Value]> = [[expression.valueName, item]]
    if (expression.keyName !== undefined) names.push([expression.keyName, key])
    scope.work.step(stepsOfElement)
    const inner = withNames(scope, names)
    const condition = expression.condition === undefined ? true : evaluate(expression.condition, inner)
    if (condition === unknown) {
      isUnknown = true
      continue
    }
    if (!toBool(condition)) continue
    const value = evaluate(expression.value, inner)
    if (expression.key === undefined) {
      list.push(value)
      continue
    }
    const name = evaluate(expression.key, inner)
    if (name === unknown) {
      isUnknown = true
      continue
    }
    const text = toText(name)
    if (expression.isGrouped) {
      const group = groups.get(text)
      if (group === undefined) groups.set(text, [value])
      else group.push(value)
    } else if (map.has(text)) return refuse(`two elements have the key ${JSON.stringify(text.slice(0, 100))}`)
    else map.set(text, value)
  }
  if (isUnknown) return unknown
  if (expression.makes === "text") return list.includes(unknown) ? unknown : scope.work.joined(list.map(toText))
  if (expression.makes === "list") return list
  return expression.isGrouped ? groups : map
}

const elementName = " element"

const splat = (of: Value, each: Expression, scope: Scope): Value => {
  if (of === unknown) return unknown
  if (of === null) return []
  const items = isList(of) ? of : of instanceof SetValue ? of.items : [of]
  scope.work.step(items.length * stepsOfElement)
  return items.map((item) => evaluate(each, withNames(scope, [[elementName, item]])))
}

/** The value, or undefined without one. */
const attempt = (expression: Expression, scope: Scope): { readonly value: Value } | undefined => {
  try {
    return { value: settled(evaluate(expression, scope)) }
  } catch (error) {
    if (error instanceof EvaluationError && error.isLimit !== true) return undefined
    throw error
  }
}

/** `try` and `can`, which catch errors, and functions with all their arguments evaluated. */
const call = (expression: Extract<Expression, { kind: "call" }>, scope: Scope): Value => {
  if (expression.name === "can") {
    const [given] = expression.given
    const tried = given === undefined ? refuse("can takes an argument") : attempt(given, scope)
    return tried?.value === unknown ? unknown : tried !== undefined
  }
  if (expression.name === "try") {
    for (const given of expression.given) {
      const tried = attempt(given, scope)
      if (tried !== undefined) return tried.value
    }
    return refuse("no argument of try has a value")
  }
  const given = expression.given.map((argument) => settled(evaluate(argument, scope)))
  if (!expression.isExpanded) return callFunction(expression.name, given, scope)
  const last = given.pop() ?? null
  if (last === unknown) return unknown
  const items = isList(last) ? last : last instanceof SetValue ? last.items : refuse("only lists can be expanded into arguments")
  return callFunction(expression.name, [...given, ...items], scope)
}

const conditional = (expression: Extract<Expression, { kind: "conditional" }>, scope: Scope): Value => {
  const condition = evaluate(expression.condition, scope)
  if (condition === unknown) return unknown
  const [chosen, other] = toBool(condition) ? [expression.chosen, expression.otherwise] : [expression.otherwise, expression.chosen]
  const value = evaluate(chosen, scope)
  if (!isNumber(value) && typeof value !== "boolean") return value
  // Both results have one type; faults of the other do not matter
  const second = attempt(other, scope)?.value
  return typeof second === "string" ? toText(value) : value
}

const objectValue = (items: ReadonlyArray<readonly [Expression, Expression]>, scope: Scope): Value => {
  const map = new Map<string, Value>()
  let isUnknown = false
  for (const [key, item] of items) {
    const name = evaluate(key, scope)
    const value = evaluate(item, scope)
    if (name === unknown) isUnknown = true
    else map.set(toText(name), value)
  }
  return isUnknown ? unknown : map
}

const templateText = (parts: ReadonlyArray<Expression>, scope: Scope): Value => {
  const values = parts.map((part) => evaluate(part, scope))
  if (values.includes(null)) return refuse("a template cannot have null in it")
  const texts = values.flatMap((value) => (value === unknown ? [] : [toText(value)]))
  return texts.length < values.length ? unknown : scope.work.joined(texts)
}

/** Fails with `EvaluationError`, which is thrown. */
export const evaluate = (expression: Expression, scope: Scope): Value => scope.work.deeper(() => evaluateHere(expression, scope))

const evaluateHere = (expression: Expression, scope: Scope): Value => {
  scope.work.step()
  switch (expression.kind) {
    case "literal":
      return isNumber(expression.value) ? scope.work.number(expression.value) : expression.value
    case "template":
      return templateText(expression.parts, scope)
    case "reference":
    case "attribute": {
      const path = pathOf(expression)
      if (path !== undefined) {
        const named = scope.names.get(path.root)
        if (named !== undefined) return path.steps.reduce<Value>(attributeOf, named)
        const { used, value } = scope.resolve(path.root, path.steps)
        return path.steps.slice(used).reduce<Value>(attributeOf, value)
      }
      return expression.kind === "attribute" ? attributeOf(evaluate(expression.of, scope), expression.name) : null
    }
    case "index":
      return indexOf(evaluate(expression.of, scope), evaluate(expression.key, scope))
    case "splat":
      return splat(evaluate(expression.of, scope), expression.each, scope)
    case "element":
      return scope.names.get(elementName) ?? null
    case "call":
      return call(expression, scope)
    case "not": {
      const value = evaluate(expression.of, scope)
      return value === unknown ? unknown : !toBool(value)
    }
    case "negative": {
      const value = evaluate(expression.of, scope)
      return value === unknown ? unknown : negated(toNumeric(value))
    }
    case "binary":
      return binary(expression.operator, evaluate(expression.left, scope), () => evaluate(expression.right, scope), scope)
    case "conditional":
      return conditional(expression, scope)
    case "list":
      return expression.items.map((item) => evaluate(item, scope))
    case "object":
      return objectValue(expression.items, scope)
    case "for":
      return forValue(expression, scope)
  }
}
