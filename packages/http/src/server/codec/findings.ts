/** The errors of an input, for the answer that refuses it. identity.md §1.4. */
import type { Validation } from "@atelier/core/platform"
import { Option, ParseResult, Schema, SchemaAST as AST } from "effect"
import { hasFormat } from "./format.js"
import { TooMany } from "./normalize.js"

/** A violation of an input's rules, and its kind. */
export interface Finding extends Validation {
  /** `shape`: the value is not of the field's type at all; `rule`: it is, and is refused. */
  readonly kind: "shape" | "rule"
}

/** Everything that an issue of a schema says, by field. No finding repeats a value, which may be long or secret. identity.md §1.4. */
export const findingsIn = (issue: ParseResult.ParseIssue, path = ""): ReadonlyArray<Finding> => {
  if ("actual" in issue && issue.actual instanceof TooMany) {
    return [{ kind: "rule", field: path, detail: `must have at most ${issue.actual.maximum} entries` }]
  }
  switch (issue._tag) {
    case "Pointer":
      return findingsIn(issue.issue, fieldAt(path, issue.path))
    case "Composite":
      return issue.ast._tag === "Union"
        ? findingsInUnion(issue.ast, issue, path)
        : many(issue.issues).flatMap((inner) => findingsIn(inner, path))
    case "Refinement": {
      if (issue.kind === "From") return findingsIn(issue.issue, path)
      return [{ kind: isShape(issue.ast) ? "shape" : "rule", field: path, detail: ruleOf(issue) }]
    }
    case "Transformation":
      return issue.kind === "Transformation" ? [{ kind: "shape", field: path, detail: ruleOf(issue) }] : findingsIn(issue.issue, path)
    case "Missing":
      return [{ kind: "rule", field: path, detail: ruleOf(issue) }]
    default:
      return [{ kind: isUnknownName(issue) ? "rule" : "shape", field: path, detail: ruleOf(issue) }]
  }
}

/** A union refuses with what its likeliest member says: one whose type the value has. */
const findingsInUnion = (ast: AST.Union, issue: ParseResult.Composite, path: string): ReadonlyArray<Finding> => {
  const literals = ast.types.filter(AST.isLiteral)
  const members = ast.types.filter((type) => !isAbsence(type))
  if (literals.length > 0 && members.every(AST.isLiteral)) {
    const sameType = members.some(({ literal }) => typeof literal === typeof issue.actual)
    return [{ kind: sameType ? "rule" : "shape", field: path, detail: expected(ast) }]
  }
  const found = many(issue.issues)
    .filter((inner) => !(inner._tag === "Type" && isAbsence(inner.ast)))
    .map((inner) => findingsIn(inner, path))
  return found.find((findings) => findings.every(({ kind }) => kind === "rule")) ?? found[0] ?? []
}

const many = <A>(items: ParseResult.SingleOrNonEmpty<A>): ReadonlyArray<A> => (Array.isArray(items) ? items : [items as A])

/** Characters of the name of a field; keys of maps are as long as their senders make them. */
const maximumField = 200

/** The name of a field within another one, as in `rules[2].name`. */
export const fieldAt = (path: string, more: ParseResult.Path): string => {
  const field = many(more).reduce<string>(
    (joined, key) => (typeof key === "number" ? `${joined}[${key}]` : joined === "" ? String(key) : `${joined}.${String(key)}`),
    path
  )
  return field.length > maximumField ? `${field.slice(0, maximumField)}…` : field
}

/** A refinement that says which form a text has, rather than which texts are welcome. */
const isShape = (ast: AST.Refinement): boolean => {
  const id = ast.annotations[AST.SchemaIdAnnotationId]
  return id === Schema.IntSchemaId || id === Schema.FiniteSchemaId || hasFormat(ast, "uuid") || hasFormat(ast, "date-time")
}

const isAbsence = (ast: AST.AST): boolean => ast._tag === "UndefinedKeyword" || (AST.isLiteral(ast) && ast.literal === null)

const isUnknownName = (issue: ParseResult.ParseIssue): boolean =>
  issue._tag === "Type" && AST.isLiteral(issue.ast) && typeof issue.ast.literal === typeof issue.actual

const messageOf = (ast: AST.Annotated, issue: ParseResult.ParseIssue): string | undefined =>
  Option.getOrUndefined(
    Option.flatMap(AST.getMessageAnnotation(ast), (message) => {
      const text = message(issue)
      return typeof text === "string" ? Option.some(text) : Option.none()
    })
  )

/** The rule that a value breaks, in words. */
const ruleOf = (issue: ParseResult.ParseIssue): string => {
  switch (issue._tag) {
    case "Pointer":
      return ruleOf(issue.issue)
    case "Missing":
      return "is required"
    case "Unexpected":
      return "is not known"
    case "Forbidden":
      return "is refused"
    case "Composite":
      return messageOf(issue.ast, issue) ?? expected(issue.ast)
    case "Type":
      return messageOf(issue.ast, issue) ?? issue.message ?? expected(issue.ast)
    case "Refinement":
      return messageOf(issue.ast, issue) ?? (issue.issue._tag === "Type" ? issue.issue.message : undefined) ?? expected(issue.ast)
    case "Transformation":
      return messageOf(issue.ast, issue) ?? ruleOf(issue.issue)
  }
}

/** The rule for a value. */
const expected = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "StringKeyword":
      return "must be a string"
    case "NumberKeyword":
      return "must be a number"
    case "BooleanKeyword":
      return "must be true or false"
    case "TupleType":
      return "must be an array"
    case "TypeLiteral":
      return "must be an object"
    case "Literal":
      return `must be ${JSON.stringify(ast.literal)}`
    case "Union": {
      const members = ast.types.filter((type) => !isAbsence(type))
      if (members.length > 1 && members.every(AST.isLiteral)) {
        return `must be one of ${members.map(({ literal }) => JSON.stringify(literal)).join(", ")}`
      }
      return [...new Set(members.map(expected))].join(" or ")
    }
    case "Refinement":
      return boundOf(ast) ?? expected(ast.from)
    case "Transformation":
      return expected(ast.from)
    case "Suspend":
      return expected(ast.f())
    default:
      return "is not valid"
  }
}

const bounds: ReadonlyMap<string, (bound: unknown) => string> = new Map([
  ["minimum", (bound) => `must be at least ${bound}`],
  ["maximum", (bound) => `must be at most ${bound}`],
  ["exclusiveMinimum", (bound) => `must be above ${bound}`],
  ["exclusiveMaximum", (bound) => `must be below ${bound}`],
  ["minLength", (bound) => `must have at least ${bound} characters`],
  ["maxLength", (bound) => `must have at most ${bound} characters`],
  ["minItems", (bound) => `must have at least ${bound} entries`],
  ["maxItems", (bound) => `must have at most ${bound} entries`],
  ["maxProperties", (bound) => `must have at most ${bound} entries`],
  ["pattern", (bound) => `must match ${bound}`]
])

/** The bounds that a rule sets, as the description of the interface names them. */
const boundOf = (ast: AST.Refinement): string | undefined => {
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  if (typeof schema !== "object" || schema === null) return undefined
  const rules = Object.entries(schema).flatMap(([name, bound]) => bounds.get(name)?.(bound) ?? [])
  return rules.length === 0 ? undefined : rules.join(", ")
}
